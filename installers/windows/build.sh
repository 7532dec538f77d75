#!/usr/bin/env bash
# Builds Underhill-Setup.exe, here, on Linux.
#
#   bash installers/windows/build.sh --output DIR [--release DIR] [--python DIR] [--quick] [--updates ADDRESS --key HEX]
#
# --python: a folder with Windows' python.exe that is shipped; otherwise the setup lets uv fetch Python. --release: one
# that is laid down already. --quick: packed in seconds, a third larger, to be tried and not to be shipped. --updates,
# --key: as in installers/linux/build.sh.
# Needs bash, makensis (installed by apt if you are root), mingw with windres, and a Python 3.11 to 3.13 with pip and PySide6, which draws the icon; a network.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
output='' release='' shipped='' packing=() options=(--platform windows)
while [ $# -gt 0 ]; do
    case "$1" in
        --output) output=$2 && shift ;;
        --release) release=$2 && shift ;;
        --python) shipped=$2 && shift ;;
        --quick) packing=('-XSetCompressor /FINAL zlib') ;;
        --updates | --key) options+=("$1" "$2") && shift ;;
        *) sed -n '2,10s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
    shift
done
[ -n "$output" ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" && exit 2; }
# shellcheck source=installers/lib.sh
source "$root/installers/lib.sh"
has makensis || { can_apt && step "Installing NSIS, which makes setup programs" apt_install nsis; } ||
    die "The command makensis is needed. Install it with: $(install_hint nsis)"
mkdir -p "$output"
output=$(cd "$output" && pwd)
work=$(mktemp -d "$output/.build.XXXX")
trap 'rm -rf "$work"' EXIT
python=${UNDERHILL_PYTHON:-python3}
if [ -z "$release" ]; then
    "$python" "$root/installers/bundle.py" --output "$work/release" "${options[@]}"
else
    cp -a "$release" "$work/release"
fi
[ -z "$shipped" ] || cp -a "$shipped" "$work/release/python"
version=$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["version"])' "$work/release/release.json")
"$python" "$root/installers/windows/icon.py" "$root/resources/icons/underhill.svg" "$work/release/underhill.ico"
bash "$root/installers/windows/launchers.sh" "$work/release" "$version"
makensis -V2 "${packing[@]}" -DVERSION="$version" -DRELEASE="$work/release" -DOUTPUT="$output/Underhill-Setup.exe" \
    -DKILOBYTES="$(du -sk "$work/release" | cut -f1)" "$root/installers/windows/underhill.nsi"
(cd "$output" && sha256sum Underhill-Setup.exe >Underhill-Setup.exe.sha256 && ls -l Underhill-Setup.exe)
