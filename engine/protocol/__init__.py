"""What the window and the engine say to each other: commands in, events out.

Every command gets exactly one terminal event bearing its id: Done, Cancelled or Failed. Other events of a command
(Progress, PromptRead, TextDelta) come before it. Telemetry comes on its own, at most five times a second.
Everything here is frozen and plain data. Importing this module loads neither torch nor transformers.
"""

from __future__ import annotations

from engine import settings
from engine.documents.frame import fence, with_passages
from engine.documents.passages import Passage
from engine.documents.results import Embeddings, FoundPassages, IndexedDocuments, LeftOut
from engine.endpoints.definition import PREFIX as ENDPOINT_PREFIX
from engine.endpoints.definition import Endpoint, EndpointCard, EndpointCheck
from engine.errors import Kind, UnderhillError
from engine.gc_tuning import settle_garbage
from engine.generation.dropping import answer_reserve, kept_tokens
from engine.generation.formats.declaration import LEVELS as THINKING
from engine.generation.formats.declaration import nearest as nearest_thinking
from engine.generation.messages import (
    FREE,
    AnswerOptions,
    ExpertFacts,
    Look,
    MemoryUse,
    Message,
    Snapshot,
    Stats,
    StepReport,
    TokenLogprob,
    Tool,
    ToolCall,
)
from engine.generation.turns import with_calls, without_calls, without_thought
from engine.hardware.computer import Computer
from engine.library.dials import in_words as dial_in_words
from engine.library.entries import (
    BLANK_CARD,
    CANCELLED,
    FAILED,
    FINISHED,
    PAUSED,
    QUEUED,
    RUNNING,
    AdoptedModel,
    DeletedModel,
    FoundModel,
    HubModel,
    LoweringOffer,
    ModelCard,
    ModelDetails,
    ModelFolder,
    SearchPage,
    TokenState,
    Transfer,
    Verification,
)
from engine.library.home import checked_name
from engine.planning.fit import Fit, Recommended
from engine.protocol.commands import *
from engine.protocol.commands import Engine
from engine.protocol.compare_commands import *
from engine.protocol.document_commands import *
from engine.protocol.endpoint_commands import *
from engine.protocol.events import *
from engine.protocol.library_commands import *
from engine.protocol.recording_commands import *
from engine.protocol.server_commands import *
from engine.protocol.team_commands import *
from engine.protocol.tool_commands import *
from engine.teams.definition import (
    FINISH,
    MESSAGE,
    NEXT,
    TESTS,
    Condition,
    Team,
    TeamCard,
    TeamStep,
    team_id,
)
from engine.teams.definition import PREFIX as TEAM_PREFIX
from engine.teams.language import LANGUAGES
from engine.toolservers.definition import FAILED as TOOLS_FAILED
from engine.toolservers.definition import OFF as TOOLS_OFF
from engine.toolservers.definition import READY as TOOLS_READY
from engine.toolservers.definition import STARTING as TOOLS_STARTING
from engine.toolservers.definition import ToolResult, ToolServer, ToolServerCard
