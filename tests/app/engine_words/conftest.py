"""The window in Chinese, for a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from app.language import choice


@pytest.fixture
def chinese(qapp: QApplication) -> Iterator[None]:
    choice.install("zh_CN")
    yield
    choice.install("en")
