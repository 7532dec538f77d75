"""Underhill's engine: Mixture-of-Experts inference with offloading. No Qt anywhere below here."""

import os

# torch's helper threads sleep after a product instead of spinning for milliseconds, during which they would keep the
# native kernels' own threads from their cores. OpenMP reads this when torch is loaded, so it stands before all else.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("KMP_BLOCKTIME", "0")  # the same for the OpenMP that torch brings along on Windows
