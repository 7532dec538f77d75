#!/usr/bin/env bash
# Sets up what the tests need, in this folder, and runs all checks and tests. Needs neither a GPU nor a display.
#
#   bash installers/test.sh             everything: style, types, import contracts, tests, coverage of the engine, and the
#                                       smoke on Windows' own Python, under Wine (makes 4 GB the first time)
#   bash installers/test.sh --fast      style and unit tests: those that take long or need the machine are left out
#   bash installers/test.sh --windows   only that smoke
#   bash installers/test.sh ARGS...     only pytest ARGS..., for example: tests/engine -k cache
#
# Which tests are left out, and which are run one by one: the markers in pyproject.toml and docs/installing.md.
set -uo pipefail
# shellcheck source=installers/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

MIN_ENGINE_COVERAGE=85
FAILED=()

check() { # NAME COMMAND...: run it, remember whether it failed
    printf '\n---- %s\n' "$1"
    "${@:2}" || FAILED+=("$1")
}

# shellcheck disable=SC2317 # called by check
types() { # at once: what is known of one system helps nothing with the other, and each takes a minute of one processor
    local windows status=0
    "$bin/mypy" --platform win32 --cache-dir .mypy_cache/win32 &
    windows=$!
    "$bin/mypy" || status=$?
    wait "$windows" && return "$status"
}

# shellcheck disable=SC2317 # called by check
engine_coverage() { # one line, so that pytest's summary stays in sight; the table only when it is too little
    local report=("$bin/coverage" report --include='engine/*') total
    total=$("${report[@]}" --format=total) || return
    echo "$total % of the engine are covered; at least $MIN_ENGINE_COVERAGE % should be"
    [ "$total" -ge "$MIN_ENGINE_COVERAGE" ] && return
    "${report[@]}"
    return 1
}

# shellcheck disable=SC2317 # called by check
tests() { # NAME MARKERS ARGS...: the tests of one step, and what they cover in a file of its own
    local COVERAGE_FILE=".coverage.$1"
    export COVERAGE_FILE
    "$bin/python" -m pytest -m "$2" "${@:3}"
}

windows() { # on Windows' own Python, under Wine: made once, by hash; where Debian cannot be had it is left out, and said so
    local status=0
    need_windows_python || return 0
    timeout 900 "$bin/python" -m tests.windows setup || status=$?
    case "$status" in
        0) timeout 900 "$bin/python" -m tests.windows smoke ;;
        75 | 124) say "LEFT OUT: Windows' own Python could not be set up here ($status)." ;;
        *) return "$status" ;;
    esac
}

fast=no
only_windows=no
case "${1:-}" in
    -h | --help)
        sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit
        ;;
    --fast) fast=yes && shift ;;
    --windows) only_windows=yes && shift ;;
esac

set_up dev
need_qt_libraries "$ENVIRONMENT" || say "Tests of the window may fail without them."
has Xvfb || { can_apt && step "Installing Xvfb, a display for tests" apt_install xvfb; } ||
    say "Tests on a real display are left out: there is no Xvfb. To have it: $(install_hint xvfb)"
{ has gnome-keyring-daemon && has dbus-run-session; } ||
    { can_apt && step "Installing GNOME Keyring, for tests of a real keyring" apt_install gnome-keyring dbus; } ||
    say "Tests with a real keyring are left out. To have them: $(install_hint gnome-keyring dbus)"
[ "$fast" = yes ] || [ $# != 0 ] || need_mingw

cd "$ROOT" || exit
# Hundreds of processes import the engine: from source, each of them takes seconds longer.
unset PYTHONDONTWRITEBYTECODE
unset DISPLAY WAYLAND_DISPLAY # tests open no windows on anybody's desk; those that need a display start their own
export LANG=C.UTF-8
# zig makes C libraries of its own for every system that it compiles for: a minute and more each, the first time.
export ZIG_GLOBAL_CACHE_DIR="${XDG_CACHE_HOME:-$HOME/.cache}/underhill-tests/zig"
bin="$ENVIRONMENT/bin"
[ "$only_windows" = no ] || { windows && exit; exit 1; }
# One worker more than processors, since a quarter of a worker's time is waiting (for a process, a disk, a clock), but
# never more than four: one takes a gigabyte. A file's tests stay together, since they share what its fixtures made, and
# tests/conftest.py says which file comes first.
processors=$(nproc)
workers=(-n $((processors < 3 ? processors + 1 : 4)) --dist loadfile --no-loadscope-reorder)
log=(--retry-log=.test-log/retries.jsonl --durations 40 --durations-min 5)
[ $# = 0 ] || exec "$bin/python" -m pytest "$@"

check "ruff: style" "$bin/ruff" check .
check "ruff: format" "$bin/ruff" format --check .
if [ "$fast" = yes ]; then
    check "unit tests" tests fast "not long and not alone and not slow" "${workers[@]}"
else
    check "mypy: types, on Linux and on Windows" types
    check "import-linter: the order of the rooms" "$bin/lint-imports" --no-logo
    rm -f .coverage .coverage.*
    covered=(--cov --cov-report=)
    check "tests, several at once" tests several "not alone" "${workers[@]}" "${log[@]}" "${covered[@]}"
    mapfile -t alone < <(grep -rl --include='test_*.py' 'pytest\.mark\.alone' tests) # collecting all takes half a minute
    check "tests that need the machine, one by one" tests alone alone "${log[@]}" "${covered[@]}" "${alone[@]}"
    check "on Windows' own Python, under Wine" windows
    check "coverage of all steps" "$bin/coverage" combine --quiet
    check "coverage of the engine" engine_coverage
fi

[ ${#FAILED[@]} = 0 ] && exit
printf '\nFailed: %s\n' "${FAILED[@]}" >&2
exit 1
