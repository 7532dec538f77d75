"""Underhill's engine: Mixture-of-Experts inference with offloading. No Qt anywhere below here."""

import os
import sys

# torch's helper threads sleep after a product instead of spinning for milliseconds, during which they would keep the
# native kernels' own threads from their cores. OpenMP reads this when torch is loaded, so it stands before all else.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("KMP_BLOCKTIME", "0")  # the same for the OpenMP that torch brings along on Windows

# What a library for the hub would otherwise send on its own account (which programs run it, which versions are out), or
# do in a way that cannot be stopped (Xet). It reads these when it is imported; only what the user asks for is sent.
for _name in ("TELEMETRY", "XET", "IMPLICIT_TOKEN", "UPDATE_CHECK"):
    os.environ[f"HF_HUB_DISABLE_{_name}"] = "1"

if sys.platform == "win32":  # before torch is loaded, too
    from engine import windows

    windows.find_runtime_library()
