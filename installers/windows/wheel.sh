#!/usr/bin/env bash
# Builds the wheel for Windows, here, on Linux: py3-none-win_amd64, with the native kernels as a DLL.
#
#   bash installers/windows/wheel.sh --output DIR [OPTIONS OF PIP]
#
# Needs bash, mingw, and a Python 3.11 to 3.13 with pip; a network for the tools that build it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ "${1-}" = --output ] && [ -n "${2-}" ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" && exit 2; }
# shellcheck source=installers/lib.sh
source "$root/installers/lib.sh"
compiler=x86_64-w64-mingw32-gcc-posix
has "$compiler" || die "The compiler $compiler is needed. Install it with: $(install_hint gcc-mingw-w64-x86-64-posix)"
# sysconfig says _PYTHON_HOST_PLATFORM instead of the platform that it runs on, and the wheel is named after that.
_PYTHON_HOST_PLATFORM=win-amd64 \
    CMAKE_ARGS="-DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=AMD64 -DCMAKE_C_COMPILER=$compiler" \
    "${UNDERHILL_PYTHON:-python3}" -m pip wheel --no-deps --wheel-dir "$2" "${@:3}" "$root"
