"""The scripted engine's library and hub: what there is, and transfers that move when a test says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from engine import api
from engine.translatable import Translatable, msg, translated

GB = 1_000_000_000


def _fits(pill: str, span: str, share: int) -> Translatable:
    where = msg("{whole} % of its experts in memory, the rest read from disk", whole=share)
    return msg("{pill}: about {span} tokens a second with {tier}-bit experts, {where}.",
               pill=translated(pill), span=span, tier=4, where=where)  # fmt: skip


FITS = api.Fit("fits", _fits("Fits", "9 to 14", 62), (9.0, 14.0), 4 * GB,
               18 * GB, 17 * GB, 4)  # fmt: skip
SLOW = api.Fit("slow", _fits("Slow", "0.8 to 1.5", 9), (0.8, 1.5), 7 * GB,
               70 * GB, 66 * GB, 4)  # fmt: skip
TOO_BIG = api.Fit(
    "too_big",
    msg("Too big for the disk: it takes {disk}, {disk_margin} should stay free, and {disk_free} are free there.",
        disk="360 GB", disk_margin="2.0 GB", disk_free="212 GB"),
    None, 21 * GB, 380 * GB, 360 * GB, 4,
)  # fmt: skip
QWEN = api.HubModel(
    "Qwen/Qwen3-30B-A3B", "Qwen3 30B A3B", "qwen3_moe", 30_500_000_000, 61 * GB, "apache-2.0",
    translated("A good all-rounder that answers at once, without thinking first."), 3_300_000_000, 40960, fit=FITS,
)  # fmt: skip
GLM = api.HubModel(
    "zai-org/GLM-4.5-Air", "GLM 4.5 Air", "glm4_moe", 106_000_000_000, 220 * GB, "mit",
    translated("A large all-rounder, good at programs and long tasks."), 12_000_000_000, 131072, fit=SLOW,
)  # fmt: skip
DEEPSEEK = api.HubModel(
    "deepseek-ai/DeepSeek-V3.1", "DeepSeek V3.1", "deepseek_v3", 671_000_000_000, 688 * GB, "mit",
    translated("Among the strongest open models, and among the largest."), 37_000_000_000, 131072, fit=TOO_BIG,
)  # fmt: skip
GPT_OSS = api.HubModel(
    "openai/gpt-oss-20b", "gpt-oss 20B", "gpt_oss", 20_900_000_000, 14 * GB, "apache-2.0",
    translated("Small enough for most computers, thinks briefly before it answers."), 3_600_000_000, 131072, fit=FITS,
)  # fmt: skip
CATALOGUE = (GPT_OSS, QWEN, GLM, DEEPSEEK)
FOUND = (
    api.FoundModel("LM Studio", "Qwen3 30B A3B Instruct", "qwen3-30b-a3b", "/models/q.gguf", "gguf", 18 * GB,
                   "qwen3moe", "Q4_K_M", 128, template=True, can_open=True, fit=FITS),
    api.FoundModel("Ollama", "llama3.2", "llama3.2", "/ollama/x", "gguf", 2 * GB, "llama", "Q4_K_M",
                   why_not="It is dense, not a Mixture-of-Experts model; Underhill runs those, which have routed "
                   "experts."),
)  # fmt: skip
FOLDER = api.ModelFolder("/home/me/.local/share/underhill/models", True, True, True, True, 120 * GB, 500 * GB, 25 * GB)


class FakeHub:
    """answer() is called on the fake engine's thread."""

    def __init__(self, emit: Callable[[api.Event], None]) -> None:
        self._emit = emit
        self.catalogue = CATALOGUE
        self.found = FOUND
        self.matches = tuple(dataclasses.replace(QWEN, repo=f"someone/qwen-{n}", title=f"Qwen {n}") for n in range(45))
        self.folders: tuple[api.ModelFolder, ...] = (FOLDER,)
        self.deleted: tuple[api.DeletedModel, ...] = ()
        self.transfers: dict[str, api.Transfer] = {}

    def answer(self, command: api.Command) -> object:
        """The result of a command about the hub or the library; None of any other."""
        match command:
            case api.ListCatalogue():
                return self.catalogue
            case api.SearchModels():
                found = tuple(m for m in self.matches if command.words in m.repo)
                page = found[20 * command.page : 20 * command.page + 20]
                bare = tuple(dataclasses.replace(m, fit=None) for m in page)
                self._emit(api.Listed(command.id, api.SearchPage(bare, command.page, 3, len(found))))
                return api.SearchPage(page, command.page, -(-len(found) // 20), len(found))
            case api.DescribeModel():
                model = next(m for m in (*self.catalogue, *self.matches) if m.repo == command.repo)
                files = (("model-1.safetensors", 30 * GB), ("config.json", 900))
                return api.ModelDetails(
                    model, f"https://hub.invalid/{model.repo}", files,
                    48, 48, 128, 8, ((8, 33 * GB), (4, 17 * GB)), ((8, SLOW), (4, FITS)),
                )  # fmt: skip
            case api.FindModels():
                self._emit(api.Progress(command.id, "Looking at Qwen3 30B A3B", 1, 0, "models"))
                return self.found
            case api.ListFolders() | api.AddFolder() | api.ForgetFolder():
                return self.folders
            case api.ListDeleted():
                return self.deleted
            case api.DeleteModel():
                self.deleted = (api.DeletedModel(command.name, FOLDER.path, GB, 0.0, 1e9), *self.deleted)
                return True
            case api.EmptyTrash():
                self.deleted = ()
                return GB
            case api.ContinueImport() | api.MoveModel() | api.RestoreModel():
                return api.ModelCard(command.name, command.name, "olmoe", f"{FOLDER.path}/{command.name}", 0, 0, 0, 0,
                                     0, 0, 0, 0, 0, (), "lean")  # fmt: skip
            case api.VerifyModel():
                self._emit(api.Progress(command.id, "Reading", GB, 2 * GB, "bytes", 9e8, 1.0))
                return api.VerifyReport(())
        return self._transfer(command)

    def _transfer(self, command: api.Command) -> object:
        match command:
            case api.ListTransfers():
                return tuple(self.transfers.values())
            case api.PullModel():
                made = api.Transfer(f"t{len(self.transfers) + 1}", command.repo, "", command.repo.split("/")[-1],
                                    command.top, "https://hub.invalid")  # fmt: skip
                return self.keep(made)
            case api.PauseTransfer():
                return self.keep(dataclasses.replace(self.transfers[command.transfer], state=api.PAUSED, rate=0.0))
            case api.ResumeTransfer():
                again = dataclasses.replace(self.transfers[command.transfer], state=api.RUNNING, problem="", action="")
                return self.keep(again)
            case api.CancelTransfer():
                return dataclasses.replace(self.transfers.pop(command.transfer), state=api.CANCELLED)
        return None

    def keep(self, transfer: api.Transfer) -> api.Transfer:
        """What the engine knows of a transfer from now on."""
        self.transfers[transfer.id] = transfer
        return transfer

    def tell(self, identity: str, **values: object) -> None:
        """Something happened to a transfer: the window hears of it."""
        changed = dataclasses.replace(self.transfers[identity], **values)  # type: ignore[arg-type]
        self._emit(api.TransferChanged("", self.keep(changed)))
