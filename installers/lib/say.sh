# Speaking to the person in front: plain sentences, progress of long steps, and why a step failed.
# shellcheck shell=bash

LOG="$ROOT/.venv.log" # everything that the steps print

say() {
    printf '%s\n' "$*" >&2
}

die() { # SENTENCE...: the last word
    printf 'Underhill: %s\n' "$*" >&2
    exit 1
}

step() { # TEXT COMMAND...: run it with its output in the log, and show that something is going on
    local text=$1 start=$SECONDS ticker status=0
    shift
    printf '==== %s: %s\n' "$text" "$*" >>"$LOG"
    STEP_LOG_FROM=$(wc -c <"$LOG")
    [ -t 2 ] || say "  $text ..."
    _tick "$text" 9>&- &
    ticker=$!
    "$@" >>"$LOG" 2>&1 || status=$?
    kill "$ticker" 2>/dev/null
    wait "$ticker" 2>/dev/null
    if [ -t 2 ]; then
        printf '\r\033[K  %s ... %s\n' "$text" "$([ "$status" = 0 ] && echo "$((SECONDS - start)) s" || echo 'failed')" >&2
    fi
    return "$status"
}

_tick() { # TEXT: a line that counts seconds; where nobody watches, a line every half minute
    local start=$SECONDS
    while sleep 1 >/dev/null 2>&1; do
        if [ -t 2 ]; then
            printf '\r\033[K  %s ... %s s' "$1" "$((SECONDS - start))" >&2
        elif (((SECONDS - start) % 30 == 0)); then
            say "  ... still at it ($((SECONDS - start)) s)"
        fi
    done
}

failed() { # WHAT: end with one sentence on why the last step failed
    local output
    output=$(tail -c "+$((STEP_LOG_FROM + 1))" "$LOG")
    case "$output" in
        *"No space left on device"* | *"Errno 28"* | *"Disk quota exceeded"*)
            die "$1 failed because the disk is full. Free some space and run this again; nothing is broken." ;;
        *"ame resolution"* | *"Name or service not known"* | *"NewConnectionError"* | *"Max retries exceeded"* | \
            *"onnection refused"* | *"onnection reset"* | *"imed out"* | *"ProxyError"* | *"unreachable"* | \
            *"No route to host"* | *"dns error"* | *"error sending request"*)
            die "$1 failed because the network cannot be reached. Connect and run this again; nothing is broken." ;;
        *"Permission denied"* | *"Read-only file system"*)
            die "$1 failed because a file may not be written. See $LOG." ;;
    esac
    say "$(tail -n 5 <<<"$output")"
    die "$1 failed; the lines above are the end of $LOG."
}
