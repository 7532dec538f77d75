# The environment's life: is it current, is somebody else at it, build it beside the old one, put it in place.
#
# An environment that is whole carries a stamp: what it was made from, one line for each part. A new one is built in
# .venv.new and renamed when done, so what stands in place always works, however a set-up ended.
# shellcheck shell=bash

ENVIRONMENT="$ROOT/.venv"
if [ -e "$ENVIRONMENT" ] && [ ! -e "$ENVIRONMENT/underhill-stamp" ]; then
    ENVIRONMENT="$ROOT/.venv-underhill" # .venv is somebody's own and stays as it is
fi
FRESH="$ROOT/.venv.new"
STAMP="$ENVIRONMENT/underhill-stamp"
LIBRARY="$ROOT/engine/native/src/underhill_kernels.so"

set_up() { # runtime | dev: have an environment for running Underhill, or for working on it too
    is_current "$1" && return
    [ -w "$ROOT" ] || die "$ROOT may not be written to, so nothing can be set up there."
    lock_set_up
    if ! is_current "$1"; then
        say "Setting up Underhill in $ENVIRONMENT; only the first time takes long."
        : >"$LOG"
        trap 'rm -rf "$FRESH"' EXIT
        trap 'exit 130' INT TERM
        update_environment "$1"
        update_kernels
        trap - EXIT INT TERM
        say "Ready."
    fi
    exec 9>&- # let the next one in
}

lock_set_up() {
    has flock || die "the command flock is needed. Install it with: $(install_hint util-linux)"
    exec 9>"$ROOT/.venv.lock"
    flock -n 9 && return
    say "Another set-up of Underhill is running; waiting for it ..."
    flock 9
}

# ---- the stamp ------------------------------------------------------------------------------------------------------

wanted() { # PART: the stamp's line for it, as it should be now
    local native="$ROOT/engine/native"
    case "$1" in
        base) echo "base=$ROOT torch $(_hash "$ROOT"/requirements/torch{,-general}.txt)" ;;
        runtime | dev) echo "$1=$(_hash "$ROOT/requirements/$1.txt")" ;;
        project) echo "project=$(_hash "$ROOT/pyproject.toml")" ;;
        kernels) echo "kernels=$(_hash "$native"/build.py "$native"/src/*.[ch] "$native"/src/options.txt) $(compiler)" ;;
    esac
}

_hash() { # FILE...: one hash over all of them
    cat -- "$@" | sha256sum | cut -c1-16
}

has_part() { # STAMP PART
    grep -qsxF -- "$(wanted "$2")" "$1"
}

is_current() { # runtime | dev
    local part
    [ -x "$ENVIRONMENT/bin/python" ] || return 1
    for part in base runtime project kernels ${1/runtime/}; do
        has_part "$STAMP" "$part" || return 1
    done
    [ -e "$LIBRARY" ]
}

# ---- building -------------------------------------------------------------------------------------------------------

update_environment() { # runtime | dev: bring every part of the environment up to date, all of them or none
    local stamp="$FRESH/underhill-stamp" part old=()
    local -x TMPDIR="$FRESH/tmp" PIP_DISABLE_PIP_VERSION_CHECK=1
    rm -rf "$FRESH"
    if has_part "$STAMP" base && "$ENVIRONMENT/bin/python" -c '' 2>/dev/null; then
        need_disk 1000
        # Links instead of copies: quick and small, and safe, since pip never writes into a file that is there.
        cp -al "$ENVIRONMENT" "$FRESH" 2>/dev/null || { rm -rf "$FRESH" && cp -a "$ENVIRONMENT" "$FRESH"; } ||
            die "$ENVIRONMENT could not be copied."
        mapfile -t old < <(grep -o '^[a-z]*' "$stamp")
        mkdir -p "$TMPDIR"
    else
        need_disk 3000
        find_python
        mkdir -p "$TMPDIR"
        step "Making a virtual environment with $PYTHON" make_environment "$FRESH" ||
            failed "Making a virtual environment"
        install_torch "$FRESH"
    fi

    local parts=(runtime project)
    [[ $1 != dev && " ${old[*]} " != *" dev "* ]] || parts+=(dev)
    for part in "${parts[@]}"; do
        has_part "$stamp" "$part" || "install_$part" "$FRESH"
    done
    check_environment "$FRESH"

    local kernels
    kernels=$(grep -s '^kernels=' "$stamp" || true)
    rm -f "$stamp" # not written in place: it may be a link to the old one
    for part in base "${parts[@]}"; do wanted "$part"; done >"$stamp"
    [ -z "$kernels" ] || echo "$kernels" >>"$stamp"
    rm -rf "$TMPDIR"
    put_in_place
}

put_in_place() {
    # Scripts of a virtual environment carry its path.
    "$FRESH/bin/python" - "$FRESH" "$ENVIRONMENT" <<'EOP' || die "$FRESH could not be put in place."
import sys
from pathlib import Path

made, final = (path.encode() for path in sys.argv[1:])
for script in Path(sys.argv[1], "bin").iterdir():
    if script.is_file() and not script.is_symlink() and made in (text := script.read_bytes()):
        new = script.with_name(script.name + ".new")
        new.write_bytes(text.replace(made, final))
        new.chmod(script.stat().st_mode)
        new.replace(script)
EOP
    rm -rf "$ENVIRONMENT.old"
    [ ! -e "$ENVIRONMENT" ] || mv "$ENVIRONMENT" "$ENVIRONMENT.old" || die "$ENVIRONMENT could not be replaced."
    mv "$FRESH" "$ENVIRONMENT" || die "$FRESH could not be put in place."
    rm -rf "$ENVIRONMENT.old"
}

update_kernels() { # build the native library: by the system's compiler, or, without one that can, by the package ziglang
    ! has_part "$STAMP" kernels || [ ! -e "$LIBRARY" ] || return 0
    [ -n "$(compiler)" ] || ! can_apt || step "Installing a C compiler" apt_install gcc libc6-dev
    if [ -z "$(compiler)" ] || ! build_kernels; then
        need_disk 1000
        install_compiler "$ENVIRONMENT"
        build_kernels || failed "Building the native kernels"
    fi
    { grep -v '^kernels=' "$STAMP" && wanted kernels; } >"$STAMP.new"
    mv "$STAMP.new" "$STAMP"
}

build_kernels() {
    step "Building the native kernels" "$ENVIRONMENT/bin/python" -m engine.native.build
}
