"""Teams in the window: their names, and the pages they are made and changed on."""
