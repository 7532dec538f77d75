#!/usr/bin/env bash
# Renews the pinned requirements from pyproject.toml. Needs uv (pip install uv). Settings: [tool.uv] in pyproject.toml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

uv pip compile --quiet "$@" pyproject.toml requirements/torch-needs.in -o requirements/runtime.txt
uv pip compile --quiet "$@" --group dev -c requirements/runtime.txt -o requirements/dev.txt
uv pip compile --quiet "$@" --group compiler -o requirements/compiler.txt
uv pip compile --quiet "$@" --group release -o requirements/release.txt
# PyTorch's general build, with the CUDA libraries that it wants. torch.txt is kept by hand, as it says.
grep -o '"torch==[^"]*"' pyproject.toml | tr -d '"' | uv pip compile --quiet --no-config --universal --python-version 3.11 \
    --generate-hashes --no-header --no-annotate "$@" -c requirements/runtime.txt - -o requirements/torch-general.txt
echo uv | uv pip compile --quiet "$@" - -o requirements/uv.txt
