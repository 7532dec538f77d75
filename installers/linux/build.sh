#!/usr/bin/env bash
# Builds the installers for Linux: a .deb, and a self-extracting .run that needs no root.
#
#   bash installers/linux/build.sh --output DIR [--fat] [--release DIR] [--updates ADDRESS --key HEX]
#
# --fat: with all packages of the engine, for this version of Python. --release: one that is laid down already.
# --updates, --key: where the program asks for updates, and the key of who signs them (installers/updates.py).
# Needs bash, dpkg-deb, and a Python 3.11 to 3.13 with pip; a network, and a C compiler.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
linux=$root/installers/linux
output='' release='' fat='' options=()
while [ $# -gt 0 ]; do
    case "$1" in
        --output) output=$2 && shift ;;
        --release) release=$2 && shift ;;
        --fat) fat=-fat && options+=(--fat) ;;
        --updates | --key) options+=("$1" "$2") && shift ;;
        *) sed -n '2,8s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
    shift
done
[ -n "$output" ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" && exit 2; }
mkdir -p "$output"
output=$(cd "$output" && pwd)
umask 022
work=$(mktemp -d "$output/.build.XXXX") # on the same disk, so that nothing is copied twice
trap 'rm -rf "$work"' EXIT
python=${UNDERHILL_PYTHON:-python3}
if [ -z "$release" ]; then
    release=$work/release
    "$python" "$root/installers/bundle.py" --output "$release" "${options[@]}"
fi
version=$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["version"])' "$release/release.json")
kilobytes=$(du -sk "$release" | cut -f1)
date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%F)
pythons="python3.13 python3.12 python3.11 python3"
[ -z "$fat" ] || pythons="python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" # wheels of this one alone

files() { # TARGET: what both kinds have beside the release, as below /usr
    install -D -m 644 "$linux/underhill.desktop" "$1/share/applications/underhill.desktop"
    install -D -m 644 "$linux/underhill-mime.xml" "$1/share/mime/packages/underhill.xml"
    install -D -m 644 "$root/resources/icons/underhill.svg" "$1/share/icons/hicolor/scalable/apps/underhill.svg"
    install -d "$1/share/metainfo" "$1/share/man/man1"
    sed "s/@VERSION@/$version/; s/@DATE@/$date/" "$linux/underhill.metainfo.xml" >"$1/share/metainfo/underhill.metainfo.xml"
    sed "s/@VERSION@/$version/" "$linux/underhill.1" >"$1/share/man/man1/underhill.1"
    sed "s|@PYTHONS@|$pythons|" "$linux/launch.sh" >"$1/launch.sh"
}

# ---- the .deb -------------------------------------------------------------------------------------------------------

deb=$work/deb
mkdir -p "$deb/opt" "$deb/usr/bin" "$deb/DEBIAN" "$deb/usr/share/doc/underhill"
cp -al "$release" "$deb/opt/underhill" 2>/dev/null || cp -a "$release" "$deb/opt/underhill"
files "$deb/usr"
sed "s|@FOLDER@|/opt/underhill|" "$deb/usr/launch.sh" >"$deb/usr/bin/underhill"
rm "$deb/usr/launch.sh"
cp "$deb/usr/bin/underhill" "$deb/usr/bin/underhill-cli"
chmod 755 "$deb"/usr/bin/*
gzip -9n "$deb/usr/share/man/man1/underhill.1"
ln -s underhill.1.gz "$deb/usr/share/man/man1/underhill-cli.1.gz"
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n'
    printf 'Files: *\nCopyright: the Underhill authors\nLicense: Apache-2.0\n On Debian, see /usr/share/common-licenses/Apache-2.0.\n'
    printf ' Third parties: /opt/underhill/THIRD_PARTY_NOTICES.md, and the folders dist-info below /opt/underhill.\n'
} >"$deb/usr/share/doc/underhill/copyright"
needs="python3 (>= 3.11) | python3.12 | python3.11, ca-certificates, libc6 (>= 2.34), libgl1, libegl1, libdbus-1-3, libfontconfig1"
needs+=", libglib2.0-0 | libglib2.0-0t64, libxkbcommon0, libxkbcommon-x11-0, libxcb-cursor0, libxcb-icccm4"
needs+=", libxcb-keysyms1, libxcb-shape0, libgssapi-krb5-2"
[ -z "$fat" ] || needs="$pythons, $needs"
cat >"$deb/DEBIAN/control" <<EOF
Package: underhill
Version: $version
Architecture: amd64
Maintainer: the Underhill authors <underhill@localhost>
Installed-Size: $kilobytes
Depends: $needs
Recommends: libwayland-cursor0, gnome-keyring | org.freedesktop.secrets
Section: utils
Priority: optional
Description: chat offline with models bigger than your computer's memory
 Underhill runs Mixture-of-Experts chat models on ordinary laptops. It keeps
 every expert on disk and caches those in memory that are used most.
 .
 The first start installs the engine's packages for the user.
EOF
# What Python compiles lies beside the sources, which users may not write to; none of it is dpkg's.
cat >"$deb/DEBIAN/postinst" <<'EOF'
#!/bin/sh
set -e
[ "$1" != configure ] || /usr/bin/underhill --compile
EOF
cat >"$deb/DEBIAN/prerm" <<'EOF'
#!/bin/sh
set -e
find /opt/underhill -name __pycache__ -type d -prune -exec rm -rf {} +
EOF
# What the first start has installed into home folders, as each user: root does not follow what lies there.
cat >"$deb/DEBIAN/postrm" <<'EOF'
#!/bin/sh
set -e
case "$1" in remove | purge) ;; *) exit 0 ;; esac
getent passwd | while IFS=: read -r user _ id _ _ home _; do
    [ "$id" -ge 1000 ] && [ "$id" -lt 65000 ] && [ -d "$home/.local/share/underhill/program" ] || continue
    runuser -u "$user" -- rm -rf "$home/.local/share/underhill/program" </dev/null || true
done
EOF
chmod 755 "$deb/DEBIAN/postinst" "$deb/DEBIAN/prerm" "$deb/DEBIAN/postrm"
dpkg-deb --root-owner-group -Zxz -z1 --build "$deb" "$output/underhill${fat}_${version}_amd64.deb" >/dev/null

# ---- the .run -------------------------------------------------------------------------------------------------------

run=$work/run
mkdir -p "$run"
cp -al "$release" "$run/app" 2>/dev/null || cp -a "$release" "$run/app"
files "$run"
sed "s/@KILOBYTES@/$kilobytes/" "$linux/install.sh" >"$run/install.sh"
tar -C "$run" --owner=0 --group=0 --sort=name -cf - . | xz -1 >"$work/payload.tar.xz"
target=$output/underhill${fat}-$version-linux-x86_64.run
sha=$(sha256sum "$work/payload.tar.xz" | cut -d' ' -f1)
cat >"$work/head" <<EOF
#!/bin/sh
# Underhill $version: sh FILE [--prefix DIR], or --uninstall [--all]. Unpacks itself, and runs the install.sh inside.
set -eu
umask 022
file=\$0
lines=@LINES@
want=$sha
have=\$(tail -n +\$((lines + 1)) "\$file" | sha256sum | cut -d' ' -f1)
[ "\$have" = "\$want" ] || { echo "This file is damaged: download it again." >&2; exit 1; }
command -v xz >/dev/null || python3 -I -c 'import lzma' 2>/dev/null ||
    { echo "Unpacking needs the program xz, or Python 3.11 to 3.13. Install xz-utils or python3." >&2; exit 1; }
folder=\$(mktemp -d "\${TMPDIR:-/tmp}/underhill.XXXXXX")
trap 'rm -rf "\$folder"' EXIT
trap 'exit 130' INT TERM
unpack() {
    if command -v xz >/dev/null; then xz -dc; else python3 -I -c 'import lzma, shutil, sys
shutil.copyfileobj(lzma.open(sys.stdin.buffer), sys.stdout.buffer)'; fi
}
tail -n +\$((lines + 1)) "\$file" | unpack | tar -C "\$folder" -xf -
sh "\$folder/install.sh" "\$@"
exit
EOF
sed -i "s/@LINES@/$(wc -l <"$work/head")/" "$work/head"
cat "$work/head" "$work/payload.tar.xz" >"$target"
chmod 755 "$target"
(cd "$output" && sha256sum ./*.deb ./*.run >SHA256SUMS && ls -l ./*.deb ./*.run)
