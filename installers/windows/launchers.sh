#!/usr/bin/env bash
# Makes underhill.exe and underhill-cli.exe in a release, which has their icon: launchers.sh RELEASE VERSION. Needs mingw.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
release=$1 version=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
numbers=$(sed -E 's/^([0-9]+)\.([0-9]+)\.([0-9]+).*/\1,\2,\3,0/' <<<"$version")
x86_64-w64-mingw32-windres -I "$here" -I "$release" -DNUMBERS="$numbers" -DWORDS="\\\"$version\\\"" \
    "$here/launcher.rc" -O coff -o "$work/launcher.res"
launcher() { # FILE OPTION...
    x86_64-w64-mingw32-gcc-posix -std=c11 -O2 -s -Wall -Wextra -Werror "${@:2}" "$here/launcher.c" "$work/launcher.res" -o "$1"
}
launcher "$release/underhill.exe" -mwindows
launcher "$release/underhill-cli.exe" -mconsole -DTERMINAL
