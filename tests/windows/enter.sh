#!/bin/sh
# Runs a command in a Debian system with Wine, of which nothing stays but what was put into /w/out. Needs root.
#   enter.sh SYSTEM PYTHON TREE LIBRARY SCRATCH OUT COMMAND...
# SYSTEM: the system's folder. PYTHON: that of python.exe, in there /w/python. TREE: the checkout, in there /w/tree with
# the DLLs of LIBRARY in their places, /w/library; what is written there is not kept. SCRATCH: an empty folder on a disk. OUT: /w/out.
set -eu
[ "${UNSHARED:-}" ] || UNSHARED=yes exec unshare --mount --pid --ipc --fork --kill-child sh "$0" "$@"
system=$1 python=$2 tree=$3 library=$4 scratch=$5 out=$6
shift 6
over() { # LOWER NAME TARGET: what is written to TARGET goes to a folder of its own
    mkdir -p "$scratch/$2/upper" "$scratch/$2/work" "$3"
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$scratch/$2/upper,workdir=$scratch/$2/work" "$3"
}
root=$scratch/root
over "$system" system "$root"
over "$python" python "$root/w/python"
over "$tree" tree "$root/w/tree"
mkdir -p "$root/w/out" "$root/w/library"
mount --bind "$library" "$root/w/library"
[ ! -e "$library/underhill_kernels.dll" ] || cp "$library/underhill_kernels.dll" "$root/w/tree/engine/native/src/"
[ ! -e "$library/machine.dll" ] || cp "$library/machine.dll" "$root/w/tree/tests/engine/cuda/ptx/"
mount --bind "$out" "$root/w/out"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys" # which processors there are
mount -t tmpfs tmpfs "$root/tmp"
status=0
chroot "$root" env -i PATH=/usr/bin:/bin LANG=C.UTF-8 HOME=/root XDG_RUNTIME_DIR=/tmp WINEPREFIX=/prefix WINEDEBUG="${WINEDEBUG--all}" \
    "$@" </dev/null || status=$?
chroot "$root" env HOME=/root WINEPREFIX=/prefix wineserver -k >/dev/null 2>&1 || true
exit "$status"
