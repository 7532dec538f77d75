"""What the tests of a simulated card begin with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.kernels.activation import Activation
from tests.engine.cuda.stand_in import StandIn
from tests.engine.experts.card.cards import SPEC
from tests.engine.experts.sources import stored


@pytest.fixture(scope="module")
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the records of the module's SOURCE."""
    return stored(request.module.SOURCE, tmp_path_factory.mktemp("card") / "store")


@pytest.fixture(scope="module")
def compiler() -> Iterator[StandIn]:
    """Compiles the card's kernels into calls of the processor's."""
    with closing(StandIn({SPEC: Activation()})) as made:
        yield made
