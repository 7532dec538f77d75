#!/bin/sh
# Starts Underhill as installed, on the newest Python 3.11 to 3.13 that there is. As underhill-cli: the terminal's program.
here=@FOLDER@
for python in "$here/python/bin/python3" @PYTHONS@; do
    found=$(command -v "$python") || continue
    "$found" -I -c 'import sys, ssl, lzma; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null || continue
    case "$0" in
        *-cli) exec "$found" -I "$here/launch.py" --cli "$@" ;;
        *) exec "$found" -I "$here/launch.py" "$@" ;;
    esac
done
echo "Underhill needs Python 3.11, 3.12 or 3.13. Install the package python3 of your distribution." >&2
exit 1
