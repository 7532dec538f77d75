"""Opening the settings."""

from __future__ import annotations

from tests.app.acts import Launch


def test_they_open_at_the_page_where_they_were_left(launch: Launch) -> None:
    desk = launch().window.desk
    dialog = desk.open_settings()
    assert dialog.page == 0
    dialog.show_page(3)
    dialog.reject()
    again = desk.open_settings()
    assert again.page == 3
    again.show_setting("dial")  # asked for by name
    assert again.page == 2
    again.reject()
