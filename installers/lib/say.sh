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
    local text=$1 start=$SECONDS status=0
    shift
    printf '==== %s: %s\n' "$text" "$*" >>"$LOG"
    STEP_LOG_FROM=$(wc -c <"$LOG")
    # The counter ends when its pipe closes. A signal could reach it before it has shed our traps.
    exec 8> >(_count "$text" 9>&-)
    "$@" >>"$LOG" 2>&1 8>&- || status=$?
    exec 8>&-
    wait $!
    if [ -t 2 ]; then
        printf '\r\033[K  %s ... %s\n' "$text" "$([ "$status" = 0 ] && echo "$((SECONDS - start)) s" || echo 'failed')" >&2
    fi
    return "$status"
}

_count() { # TEXT: a line that counts seconds until standard input ends; where nobody watches, one every half minute
    local start=$SECONDS _
    [ -t 2 ] || say "  $1 ..."
    while
        read -r -t 1 _
        [ $? -gt 128 ] # it timed out
    do
        if [ -t 2 ]; then
            printf '\r\033[K  %s ... %s s' "$1" "$((SECONDS - start))" >&2
        elif (((SECONDS - start) % 30 == 0)); then
            say "  ... still at it ($((SECONDS - start)) s)"
        fi
    done
}

reason() { # why the last step failed, where that can be told from its output
    case "$(_step_output)" in
        *"No space left on device"* | *"Errno 28"* | *"Disk quota exceeded"*) echo "the disk is full" ;;
        *"ame resolution"* | *"Name or service not known"* | *"NewConnectionError"* | *"Max retries exceeded"* | \
            *"onnection refused"* | *"onnection reset"* | *"imed out"* | *"ProxyError"* | *"unreachable"* | \
            *"No route to host"* | *"dns error"* | *"error sending request"*) echo "the network cannot be reached" ;;
        *"Permission denied"* | *"Read-only file system"*) echo "a file may not be written (see $LOG)" ;;
    esac
}

failed() { # WHAT: end with one sentence on why the last step failed
    local why
    why=$(reason)
    [ -z "$why" ] || die "$1 failed because $why. When that is mended, run this again; nothing is broken."
    say "$(_step_output | tail -n 5)"
    die "$1 failed; the lines above are the end of $LOG."
}

_step_output() {
    tail -c "+$((STEP_LOG_FROM + 1))" "$LOG"
}
