#!/bin/sh
# Underhill, for this user; no root is needed. Inside the self-extracting installer: `sh FILE.run`, which ends in this.
#
#   sh FILE.run [--prefix DIR]     install, into ~/.local by default
#   sh FILE.run --uninstall        remove it; chats and models stay
#   sh FILE.run --uninstall --all  remove it with all chats and models
set -eu
prefix=${HOME:?}/.local
action=install
all=no
while [ $# -gt 0 ]; do
    case "$1" in
        --prefix) prefix=${2:?--prefix needs a folder} && shift ;;
        --uninstall) action=uninstall ;;
        --all) all=yes ;;
        *) sed -n '2,6s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
    shift
done
case "$prefix" in /*) ;; *) prefix=$PWD/$prefix ;; esac
data=${UNDERHILL_HOME:-${XDG_DATA_HOME:-$HOME/.local/share}/underhill}
app=$prefix/share/underhill-app
links="bin/underhill bin/underhill-cli share/applications/underhill.desktop share/metainfo/underhill.metainfo.xml
share/mime/packages/underhill.xml share/icons/hicolor/scalable/apps/underhill.svg share/man/man1/underhill.1"

refresh() { # what desktops keep of these folders; not every system has the commands
    update-desktop-database "$prefix/share/applications" 2>/dev/null || true
    update-mime-database "$prefix/share/mime" 2>/dev/null || true
}

if [ $action = uninstall ]; then
    for each in $links; do rm -f "$prefix/$each"; done
    rm -rf "$app" "$app.new" "$app.old" "$data/program"
    [ $all = no ] || rm -rf "$data" "${XDG_STATE_HOME:-$HOME/.local/state}/underhill"
    refresh
    echo "Underhill is removed$([ $all = yes ] || echo "; chats and models are left in $data")."
    exit
fi

payload=$(dirname "$0")
need=@KILOBYTES@
mkdir -p "$prefix/share"
free=$(df -Pk "$prefix" | awk 'NR == 2 { print $4 }')
[ "$free" -gt $((need * 2)) ] || { echo "The disk is too full: $((need * 2 / 1024)) MB are needed." >&2 && exit 1; }
rm -rf "$app.new"
cp -R "$payload/app" "$app.new"
cp "$0" "$app.new/install.sh"
rm -rf "$app.old"
[ ! -e "$app" ] || mv "$app" "$app.old"
mv "$app.new" "$app" # whole or not at all
rm -rf "$app.old"
for each in $links; do
    mkdir -p "$prefix/$(dirname "$each")"
    rm -f "$prefix/$each"
    case "$each" in
        bin/*) sed "s|@FOLDER@|\"$app\"|" "$payload/launch.sh" >"$prefix/$each" && chmod 755 "$prefix/$each" ;;
        *.desktop) sed "s|^Exec=.*|Exec=\"$prefix/bin/underhill\" %f|" "$payload/$each" >"$prefix/$each" ;;
        *) cp "$payload/$each" "$prefix/$each" ;;
    esac
done
"$prefix/bin/underhill" --compile || true # without a Python it says so, and the first start will too
refresh
echo "Underhill is installed. Start it from the menu, or with $prefix/bin/underhill"
case ":$PATH:" in *":$prefix/bin:"*) ;; *) echo "($prefix/bin is not in PATH, so a terminal needs the whole path.)" ;; esac
