"""The window in Chinese, for a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from app.i18n import languages


@pytest.fixture
def chinese(qapp: QApplication) -> Iterator[None]:
    languages.install("zh_CN")
    yield
    languages.install("en")
