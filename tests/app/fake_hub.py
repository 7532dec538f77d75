"""The scripted engine's library and hub: what there is, and transfers that move when a test says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from engine import protocol
from engine.translatable import Translatable, msg, translated

GB = 1_000_000_000


def _runs(span: str, share: int) -> Translatable:
    where = msg("{whole}% in memory", whole=share) if share < 100 else msg("all in memory")
    return msg("≈ {span} tok/s · {tier}-bit · {where}", span=span, tier=4, where=where)


IN_MEMORY = protocol.Fit("fits", _runs("40–60", 100), (40.0, 60.0), GB, 2 * GB, GB, 4, 1.0)
FITS = protocol.Fit("fits", _runs("9–14", 62), (9.0, 14.0), 4 * GB, 18 * GB, 17 * GB, 4, 0.62)
SLOW = protocol.Fit("slow", _runs("0.8–1.5", 9), (0.8, 1.5), 7 * GB, 70 * GB, 66 * GB, 4, 0.09)
TOO_BIG = protocol.Fit(
    "too_big",
    msg("Not enough disk space: needs {disk}, {disk_free} free",
        disk="360 GB", disk_free="212 GB"),
    None, 21 * GB, 380 * GB, 360 * GB, 4, 0.0,
)  # fmt: skip
QWEN = protocol.HubModel(
    "Qwen/Qwen3-30B-A3B", "Qwen3 30B A3B", "qwen3_moe", 30_500_000_000, 61 * GB, "apache-2.0",
    translated("All-rounder that answers without thinking first."), 3_300_000_000, 40960, fit=FITS,
)  # fmt: skip
GLM = protocol.HubModel(
    "zai-org/GLM-4.5-Air", "GLM 4.5 Air", "glm4_moe", 106_000_000_000, 220 * GB, "mit",
    translated("Large all-rounder, good at code and long tasks."), 12_000_000_000, 131072, fit=SLOW,
)  # fmt: skip
DEEPSEEK = protocol.HubModel(
    "deepseek-ai/DeepSeek-V3.1", "DeepSeek V3.1", "deepseek_v3", 671_000_000_000, 688 * GB, "mit",
    translated("Among the strongest open models, and among the largest."), 37_000_000_000, 131072, fit=TOO_BIG,
)  # fmt: skip
GPT_OSS = protocol.HubModel(
    "openai/gpt-oss-20b", "gpt-oss 20B", "gpt_oss", 20_900_000_000, 14 * GB, "apache-2.0",
    translated("Small enough for most computers, thinks briefly."), 3_600_000_000, 131072, fit=FITS,
)  # fmt: skip
CATALOGUE = (GPT_OSS, QWEN, GLM, DEEPSEEK)
FOUND = (
    protocol.FoundModel("LM Studio", "Qwen3 30B A3B Instruct", "qwen3-30b-a3b", "/models/q.gguf", "gguf", 18 * GB,
                   "qwen3moe", "Q4_K_M", 128, template=True, can_open=True, fit=FITS),
    protocol.FoundModel("Ollama", "llama3.2", "llama3.2", "/ollama/x", "gguf", 2 * GB, "llama", "Q4_K_M",
                   why_not="Dense model. Only Mixture-of-Experts models are supported."),
)  # fmt: skip
FOLDER = protocol.ModelFolder(
    "/home/me/.local/share/underhill/models", True, True, True, True, 120 * GB, 500 * GB, 25 * GB
)


class FakeHub:
    """answer() is called on the fake engine's thread."""

    def __init__(self, emit: Callable[[protocol.Event], None]) -> None:
        self._emit = emit
        self.catalogue = CATALOGUE
        self.found = FOUND
        self.matches = tuple(dataclasses.replace(QWEN, repo=f"someone/qwen-{n}", title=f"Qwen {n}") for n in range(45))
        self.folders: tuple[protocol.ModelFolder, ...] = (FOLDER,)
        self.deleted: tuple[protocol.DeletedModel, ...] = ()
        self.transfers: dict[str, protocol.Transfer] = {}

    def answer(self, command: protocol.Command) -> object:
        """The result of a command about the hub or the library; None of any other."""
        match command:
            case protocol.ListCatalogue():
                return self.catalogue
            case protocol.SearchModels():
                found = tuple(m for m in self.matches if command.words in m.repo)
                page = found[20 * command.page : 20 * command.page + 20]
                bare = tuple(dataclasses.replace(m, fit=None) for m in page)
                self._emit(protocol.Listed(command.id, protocol.SearchPage(bare, command.page, 3, len(found))))
                return protocol.SearchPage(page, command.page, -(-len(found) // 20), len(found))
            case protocol.DescribeModel():
                model = next(m for m in (*self.catalogue, *self.matches) if m.repo == command.repo)
                files = (("model-1.safetensors", 30 * GB), ("config.json", 900))
                return protocol.ModelDetails(
                    model, f"https://hub.invalid/{model.repo}", files,
                    48, 48, 128, 8, ((8, 33 * GB), (4, 17 * GB)), ((8, SLOW), (4, FITS)),
                )  # fmt: skip
            case protocol.FindModels():
                self._emit(protocol.Progress(command.id, "Checking Qwen3 30B A3B", 1, 0, "models"))
                return self.found
            case protocol.ListFolders() | protocol.AddFolder() | protocol.ForgetFolder():
                return self.folders
            case protocol.ListDeleted():
                return self.deleted
            case protocol.DeleteModel():
                self.deleted = (protocol.DeletedModel(command.name, FOLDER.path, GB, 0.0, 1e9), *self.deleted)
                return True
            case protocol.EmptyTrash():
                self.deleted = ()
                return GB
            case protocol.ContinueImport() | protocol.MoveModel() | protocol.RestoreModel():
                return protocol.ModelCard(command.name, command.name, "olmoe", f"{FOLDER.path}/{command.name}",
                                          0, 0, 0, 0, 0, 0, 0, 0, 0, (), "lean")  # fmt: skip
            case protocol.VerifyModel():
                self._emit(protocol.Progress(command.id, "Reading", GB, 2 * GB, "bytes", 9e8, 1.0))
                return protocol.VerifyReport(())
        return self._transfer(command)

    def _transfer(self, command: protocol.Command) -> object:
        match command:
            case protocol.ListTransfers():
                return tuple(self.transfers.values())
            case protocol.PullModel():
                made = protocol.Transfer(f"t{len(self.transfers) + 1}", command.repo, "", command.repo.split("/")[-1],
                                    command.top, "https://hub.invalid")  # fmt: skip
                return self.keep(made)
            case protocol.PauseTransfer():
                return self.keep(dataclasses.replace(self.transfers[command.transfer], state=protocol.PAUSED, rate=0.0))
            case protocol.ResumeTransfer():
                again = dataclasses.replace(
                    self.transfers[command.transfer], state=protocol.RUNNING, problem="", action=""
                )
                return self.keep(again)
            case protocol.CancelTransfer():
                return dataclasses.replace(self.transfers.pop(command.transfer), state=protocol.CANCELLED)
        return None

    def keep(self, transfer: protocol.Transfer) -> protocol.Transfer:
        """What the engine knows of a transfer from now on."""
        self.transfers[transfer.id] = transfer
        return transfer

    def tell(self, identity: str, **values: object) -> None:
        """Something happened to a transfer: the window hears of it."""
        changed = dataclasses.replace(self.transfers[identity], **values)  # type: ignore[arg-type]
        self._emit(protocol.TransferChanged("", self.keep(changed)))
