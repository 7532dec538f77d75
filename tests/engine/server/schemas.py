"""A function and an object that tests of several APIs ask for, whose values a small model can hardly get wrong."""

from __future__ import annotations

GET_WEATHER = {
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"town": {"enum": ["Rome", "Oslo"]}, "days": {"type": "integer", "minimum": 1, "maximum": 9}},
        "required": ["town", "days"],
        "additionalProperties": False,
    },
}
PERSON = {
    "type": "object",
    "properties": {"name": {"enum": ["Ann", "Bob"]}, "old": {"type": "boolean"}},
    "required": ["name", "old"],
    "additionalProperties": False,
}
