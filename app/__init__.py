"""The Qt window. It knows the engine only through engine.protocol."""

import os

# Qt would share out what it fills half transparently among threads of its own, and wait for them with Python's lock in
# hand: beside an engine that takes every core, window and engine both stand still until one is scheduled. Qt reads this
# when it first paints. What is painted here is far too small to gain by it.
os.environ.setdefault("QT_NO_GUI_THREADPOOL", "1")
