"""In which language a text is: by its script, and among languages of Latin script by their commonest words.

That is right for most sentences and says nothing where it cannot tell, as for a name or a line of code.
"""

from __future__ import annotations

import re
from collections import Counter

LANGUAGES = {  # by code: in English, and in itself
    "en": ("English", "English"),
    "zh": ("Chinese", "中文"),
    "ja": ("Japanese", "日本語"),
    "ko": ("Korean", "한국어"),
    "de": ("German", "Deutsch"),
    "fr": ("French", "Français"),
    "es": ("Spanish", "Español"),
    "it": ("Italian", "Italiano"),
    "pt": ("Portuguese", "Português"),
    "nl": ("Dutch", "Nederlands"),
    "pl": ("Polish", "Polski"),
    "tr": ("Turkish", "Türkçe"),
    "ru": ("Russian", "Русский"),
    "uk": ("Ukrainian", "Українська"),
    "ar": ("Arabic", "العربية"),
    "he": ("Hebrew", "עברית"),
    "hi": ("Hindi", "हिन्दी"),
    "th": ("Thai", "ไทย"),
    "el": ("Greek", "Ελληνικά"),
}
UNKNOWN = "the language of the message"  # in place of a name
LOOKED_AT = 20_000  # characters from the beginning
_LETTERS_OF_A_WORD = 5  # of Latin script; other scripts need one or two
_SCRIPTS = (  # letters of a script, as ranges of code points
    ("ja", "\u3041-\u3096\u30a1-\u30fa"),
    ("ko", "\uac00-\ud7a3\u1100-\u11ff"),
    ("zh", "\u3400-\u4dbf\u4e00-\u9fff"),
    ("ru", "\u0400-\u04ff"),
    ("ar", "\u0620-\u06ff"),
    ("he", "\u05d0-\u05ea"),
    ("hi", "\u0900-\u097f"),
    ("th", "\u0e01-\u0e4e"),
    ("el", "\u0370-\u03ff\u1f00-\u1fff"),
    ("latin", "A-Za-z\u00c0-\u024f"),
)
_LETTERS = tuple((name, re.compile(f"[{ranges}]")) for name, ranges in _SCRIPTS)
_UKRAINIAN = re.compile("[іїєґ]", re.I)
_FENCED = re.compile(r"^(`{3,}|~{3,}).*?^\1`*[ \t]*$", re.M | re.S)
_NO_WORDS = re.compile(r"https?://\S+|`[^`\n]*`")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_COMMON = {
    "en": "the of and to is in that it you for what how are this with do can have i my please why not does from at be "
    "which who when where was an on write tell me your hello hi thanks will would should there",
    "de": "der die das und ist nicht ich du wie was ein eine für mit auf zu den dem von es sind wir bitte warum kann "
    "im auch wenn aber oder mir mich dir schreibe hallo danke wer wo welche sich einen gibt",
    "fr": "le les et est pas je tu comment une pour avec sur des du que qui vous nous dans ce cette il elle "
    "pourquoi peux quel quelle bonjour merci sont mon ma ton au aux avez faire est-ce c'est s'il d'un",
    "es": "el los las y es cómo qué por para con una del que no está son mi tu en se lo hola gracias cuál cuándo dónde "
    "quién puedes porque pero más como escribe muy hay eres",
    "it": "il gli e è non che di per con una come cosa sono della del nel mi ti perché puoi ciao grazie quando dove "
    "chi qual anche ma più scrivi questo questa alla dei delle",
    "pt": "o os as e é não que um uma para com como qual em do da dos das no na você por porque são meu minha olá "
    "obrigado onde quem quando mas mais pode escreva isso está",
    "nl": "de het een en is niet ik je hoe wat voor met op te van zijn dat die waarom kan kun ook maar wie waar hallo "
    "dank welke schrijf naar om mijn jij er aan",
    "pl": "i w na nie się jest że to jak co z do dla czy proszę mi ja ty jaki jaka kto gdzie dlaczego cześć dziękuję "
    "są napisz po od",
    "tr": "ve bir bu ne nasıl için mi mı mu ile da de çok ben sen değil var yok neden kim nerede merhaba teşekkür "
    "lütfen olarak daha hangi yaz",
}
_LANGUAGES_OF = Counter(w for words in _COMMON.values() for w in set(words.split()))  # that have a word
_WORDS = {code: frozenset(words.split()) for code, words in _COMMON.items()}


def language_of(text: str) -> str:
    """The code of LANGUAGES; '' where it cannot be told. Code in the text does not count."""
    plain = _NO_WORDS.sub(" ", _FENCED.sub(" ", text[:LOOKED_AT]))
    counts = {name: len(letters.findall(plain)) for name, letters in _LETTERS}
    script = max(counts, key=lambda name: counts[name])
    if not counts[script]:
        return ""
    # Chinese characters stand in Japanese, too, and English names in any sentence.
    if counts["ja"] and counts["ja"] * 8 >= counts["zh"] and counts["ja"] + counts["zh"] > counts["latin"] / 4:
        return "ja"
    if script == "latin":
        dense = max(("zh", "ko", "th"), key=lambda name: counts[name])
        return dense if counts[dense] * _LETTERS_OF_A_WORD > counts["latin"] else _of_latin(plain)
    return "uk" if script == "ru" and _UKRAINIAN.search(plain) else script


def named(code: str) -> str:
    """The language's name in English."""
    return LANGUAGES[code][0] if code in LANGUAGES else UNKNOWN


def _of_latin(plain: str) -> str:
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(plain)]
    scores = {code: sum(1 / _LANGUAGES_OF[word] for word in words if word in common) for code, common in _WORDS.items()}
    best, second = sorted(scores.values(), reverse=True)[:2]
    return max(scores, key=lambda code: scores[code]) if best > second else ""
