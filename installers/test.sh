#!/usr/bin/env bash
# Sets up what the tests need, in this folder, and runs all checks and tests. Needs neither a GPU nor a display.
#
#   bash installers/test.sh             everything: style, types, import contracts, tests, coverage of the engine
#   bash installers/test.sh --quick     the same without slow tests and without coverage
#   bash installers/test.sh ARGS...     only pytest ARGS..., for example: tests/engine -k cache
#
# A test that fails is tried a second time, but not with ARGS; see docs/installing.md.
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
engine_coverage() { # one line, so that pytest's summary stays in sight; the table only when it is too little
    local report=("$bin/coverage" report --include='engine/*') total
    total=$("${report[@]}" --format=total) || return
    echo "$total % of the engine are covered; at least $MIN_ENGINE_COVERAGE % should be"
    [ "$total" -ge "$MIN_ENGINE_COVERAGE" ] && return
    "${report[@]}"
    return 1
}

# shellcheck disable=SC2317 # called by check
halves() { # pytest ARGS... twice at once, since most tests use one core: the engine's but for those of hubs, and all others
    local engine status=0 others=()
    engine=$(mktemp) || return
    mapfile -t others < <(find tests -mindepth 1 -maxdepth 1 ! -name engine ! -name '__pycache__' \
        \( -type d -o -name 'test_*.py' \) | sort)
    COVERAGE_FILE=.coverage.engine "$bin/python" -m pytest "$@" tests/engine --ignore tests/engine/hub >"$engine" 2>&1 &
    COVERAGE_FILE=.coverage.others "$bin/python" -m pytest "$@" "${others[@]}" tests/engine/hub || status=1
    wait $! || status=1
    cat "$engine"
    rm -f "$engine"
    return $status
}

quick=no
case "${1:-}" in
    -h | --help)
        sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit
        ;;
    --quick) quick=yes && shift ;;
esac

set_up dev
need_qt_libraries "$ENVIRONMENT" || say "Tests of the window may fail without them."
has Xvfb || { can_apt && step "Installing Xvfb, a display for tests" apt_install xvfb; } ||
    say "Tests on a real display are left out: there is no Xvfb. To have it: $(install_hint xvfb)"
{ has gnome-keyring-daemon && has dbus-run-session; } ||
    { can_apt && step "Installing GNOME Keyring, for tests of a real keyring" apt_install gnome-keyring dbus; } ||
    say "Tests with a real keyring are left out. To have them: $(install_hint gnome-keyring dbus)"
[ "$quick" = yes ] || [ $# != 0 ] || need_windows

cd "$ROOT" || exit
unset DISPLAY WAYLAND_DISPLAY # tests open no windows on anybody's desk; those that need a display start their own
export LANG=C.UTF-8
bin="$ENVIRONMENT/bin"
again=(--reruns 1 --max-suite-reruns 4) # one more than may need it: tests/unsteady.py
slowest=(--durations 40 --durations-min 5)
[ $# = 0 ] || exec "$bin/python" -m pytest "$@"

check "ruff: style" "$bin/ruff" check .
check "ruff: format" "$bin/ruff" format --check .
check "mypy: types" "$bin/mypy"
check "import-linter: the order of the rooms" "$bin/lint-imports" --no-logo
if [ "$quick" = yes ]; then
    check "pytest" halves "${again[@]}" -m "not slow"
else
    rm -f .coverage .coverage.*
    check "pytest" halves "${again[@]}" "${slowest[@]}" --cov --cov-report=
    check "coverage: both halves" "$bin/coverage" combine --quiet
    check "coverage of the engine" engine_coverage
fi

[ ${#FAILED[@]} = 0 ] && exit
printf '\nFailed: %s\n' "${FAILED[@]}" >&2
exit 1
