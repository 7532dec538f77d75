"""The scripted engine's library and hub: what there is, and transfers that move when a test says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from engine import protocol
from engine.translatable import Translatable, msg, translated

GB = 1_000_000_000


def _runs(span: str, share: int, tier: int = 4) -> Translatable:
    where = msg("{whole}% in memory", whole=share) if share < 100 else msg("all in memory")
    return msg("≈ {span} tok/s · {tier}-bit · {where}", span=span, tier=tier, where=where)


def at_8_bits(fit: protocol.Fit, span: str) -> protocol.Fit:
    """The same of experts with 8 bits, answering at `span` tokens a second."""
    return dataclasses.replace(fit, tier=8, sentence=_runs(span, round(100 * fit.share), 8))


IN_MEMORY = protocol.Fit(
    pill="fits", sentence=_runs("40–60", 100), speed=(40.0, 60.0), needed=GB, wanted=2 * GB, disk=GB, tier=4, share=1.0
)
FITS = protocol.Fit(
    pill="fits", sentence=_runs("9–14", 62), speed=(9.0, 14.0), needed=4 * GB, wanted=18 * GB, disk=17 * GB, tier=4,
    share=0.62,
)  # fmt: skip
SLOW = protocol.Fit(
    pill="slow", sentence=_runs("0.8–1.5", 9), speed=(0.8, 1.5), needed=7 * GB, wanted=70 * GB, disk=66 * GB, tier=4,
    share=0.09,
)  # fmt: skip
TOO_BIG = protocol.Fit(
    pill="too_big",
    sentence=msg("Not enough disk space: needs {disk}, {disk_free} free",
        disk="360 GB", disk_free="212 GB"),
    speed=None, needed=21 * GB, wanted=380 * GB, disk=360 * GB, tier=4, share=0.0,
)  # fmt: skip
QWEN = protocol.HubModel(
    repo="Qwen/Qwen3-30B-A3B",
    title="Qwen3 30B A3B",
    model_type="qwen3_moe",
    parameters=30_500_000_000,
    download_bytes=61 * GB,
    licence="apache-2.0",
    about=translated("All-rounder that answers without thinking first."),
    active_parameters=3_300_000_000,
    context_length=40960,
    fit=FITS,
)
GLM = protocol.HubModel(
    repo="zai-org/GLM-4.5-Air",
    title="GLM 4.5 Air",
    model_type="glm4_moe",
    parameters=106_000_000_000,
    download_bytes=220 * GB,
    licence="mit",
    about=translated("Large all-rounder, good at code and long tasks."),
    active_parameters=12_000_000_000,
    context_length=131072,
    fit=SLOW,
    good_at=("thinking", "code"),
)
DEEPSEEK = protocol.HubModel(
    repo="deepseek-ai/DeepSeek-V3.1",
    title="DeepSeek V3.1",
    model_type="deepseek_v3",
    parameters=671_000_000_000,
    download_bytes=688 * GB,
    licence="mit",
    about=translated("Among the strongest open models, and among the largest."),
    active_parameters=37_000_000_000,
    context_length=131072,
    fit=TOO_BIG,
    good_at=("thinking",),
)
GPT_OSS = protocol.HubModel(
    repo="openai/gpt-oss-20b",
    title="gpt-oss 20B",
    model_type="gpt_oss",
    parameters=20_900_000_000,
    download_bytes=14 * GB,
    licence="apache-2.0",
    about=translated("Small enough for most computers, thinks briefly."),
    active_parameters=3_600_000_000,
    context_length=131072,
    fit=FITS,
    good_at=("thinking",),
)
CATALOGUE = (GPT_OSS, QWEN, GLM, DEEPSEEK)
FOUND = (
    protocol.FoundModel(
        app="LM Studio",
        title="Qwen3 30B A3B Instruct",
        name="qwen3-30b-a3b",
        path="/models/q.gguf",
        format="gguf",
        nbytes=18 * GB,
        architecture="qwen3moe",
        quantization="Q4_K_M",
        experts=128,
        template=True,
        can_open=True,
        fit=FITS,
    ),
    protocol.FoundModel(
        app="Ollama",
        title="llama3.2",
        name="llama3.2",
        path="/ollama/x",
        format="gguf",
        nbytes=2 * GB,
        architecture="llama",
        quantization="Q4_K_M",
        why_not="Dense model. Only Mixture-of-Experts models are supported.",
    ),
)
FOLDER = protocol.ModelFolder(
    path="/home/me/.local/share/underhill/models",
    there=True,
    first=True,
    own=True,
    writable=True,
    free=120 * GB,
    total=500 * GB,
    models=25 * GB,
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
                    model=model,
                    page=f"https://hub.invalid/{model.repo}",
                    files=files,
                    layers=48,
                    moe_layers=48,
                    experts=128,
                    experts_per_token=8,
                    stores=((8, 33 * GB), (4, 17 * GB)),
                    fits=((8, at_8_bits(SLOW, "0.8–1.5")), (4, FITS)),
                )
            case protocol.FindModels():
                self._emit(
                    protocol.Progress(
                        id=command.id,
                        text=msg("Checking {title}", title="Qwen3 30B A3B"),
                        done=1,
                        total=0,
                        unit="models",
                    )
                )
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
                return protocol.ModelCard(
                    name=command.name,
                    title=command.name,
                    family="olmoe",
                    path=f"{FOLDER.path}/{command.name}",
                    parameters=0,
                    active_parameters=0,
                    disk_bytes=0,
                    expert_bytes=0,
                    layers=0,
                    moe_layers=0,
                    experts=0,
                    experts_per_token=0,
                    context_length=0,
                    tiers=(),
                    backend="lean",
                )
            case protocol.VerifyModel():
                self._emit(
                    protocol.Progress(
                        id=command.id, text="Reading", done=GB, total=2 * GB, unit="bytes", rate=9e8, left=1.0
                    )
                )
                return protocol.VerifyReport(())
        return self._transfer(command)

    def _transfer(self, command: protocol.Command) -> object:
        match command:
            case protocol.ListTransfers():
                return tuple(self.transfers.values())
            case protocol.PullModel():
                made = protocol.Transfer(
                    id=f"t{len(self.transfers) + 1}",
                    repo=command.repo,
                    revision="",
                    name=command.repo.split("/")[-1],
                    top=command.top,
                    endpoint="https://hub.invalid",
                )
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
