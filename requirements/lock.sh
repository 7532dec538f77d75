#!/usr/bin/env bash
# Renews the pinned requirements from pyproject.toml. Needs uv (pip install uv). Settings: [tool.uv] in pyproject.toml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

uv pip compile --quiet "$@" pyproject.toml requirements/torch.in -o requirements/runtime.txt
uv pip compile --quiet "$@" --group dev -c requirements/runtime.txt -o requirements/dev.txt
echo uv | uv pip compile --quiet "$@" - -o requirements/uv.txt
