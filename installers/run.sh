#!/usr/bin/env bash
# Sets up everything Underhill needs, in this folder, and opens its window. Safe to run again; then it only opens it.
#
#   bash installers/run.sh              the window; where there is no display, a chat in the terminal
#   bash installers/run.sh cli ARGS...  underhill-cli ARGS... in the same environment
set -uo pipefail
# shellcheck source=installers/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

case "${1:-}" in
    cli)
        set_up runtime
        exec "$ENVIRONMENT/bin/underhill-cli" "${@:2}"
        ;;
    -h | --help)
        sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit
        ;;
    ?*) die "run.sh does not know '$1'. It takes nothing, or: cli ARGS... See --help." ;;
esac

set_up runtime
if [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    say "There is no display, so Underhill opens a chat in this terminal."
elif window_can_open "$ENVIRONMENT" || { need_qt_libraries "$ENVIRONMENT" && window_can_open "$ENVIRONMENT"; }; then
    exec "$ENVIRONMENT/bin/underhill"
else
    say "The window cannot be opened on the display ${WAYLAND_DISPLAY:-$DISPLAY}, so here is a chat in this terminal."
fi
exec "$ENVIRONMENT/bin/underhill-cli" chat
