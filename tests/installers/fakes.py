"""Stand-ins for the programs that a set-up calls: they note how they were called and fail on request.

@ROOT@, @FAKES@ and @PYTHON@ are replaced by the checkout, the folder of notes, and a real Python.
"""

from __future__ import annotations

# Commands of any Linux system that the scripts may use. Whatever is not here they must do without.
BASICS = (
    "awk bash cat chmod cp cut date dirname env flock grep head ln ls mkdir mv rm sed sha256sum sleep sort tail "
    "timeout touch tr wc"
).split()

# A Python that answers the installer's questions and notes its calls. Notes that it reads: `python-version`;
# `no-ensurepip`; `pip-fails` (a word of the failing command, then what pip prints); `pip-hangs` (pip waits until that
# is gone); `kernels-fail` (unless the compiler's package was installed, if it says 1); `display-works`.
PYTHON = r"""#!/bin/bash
fakes="@FAKES@"
here="$(dirname "$0")"
case "$*" in
    "-c import sys; print"*) cat "$fakes/python-version" 2>/dev/null || echo 3.11 ;;
    "-c import ensurepip") [ ! -e "$fakes/no-ensurepip" ] ;;
    "-c from PySide6"*) [ -e "$fakes/display-works" ] ;;
    -c*) ;;
    "-m venv "*)
        echo "venv ${*:3}" >>"$fakes/calls"
        mkdir -p "${@: -1}/bin" && cp "$0" "${@: -1}/bin/python" ;;
    "-m pip"*)
        echo "pip ${*:3}" >>"$fakes/calls"
        while [ -e "$fakes/pip-hangs" ]; do sleep 0.05; done
        if [ -e "$fakes/pip-fails" ] && [[ "$*" == *"$(head -n 1 "$fakes/pip-fails")"* ]]; then
            tail -n +2 "$fakes/pip-fails" >&2
            exit 1
        fi
        case "$*" in
            *" -e "*)
                for name in underhill underhill-cli; do
                    { echo '#!/bin/bash'
                      echo "echo \"$name of $here\""
                      echo 'printf "<%s>\n" "$@"'
                      echo '[ ! -e /proc/self/fd/9 ] || echo "still holding the lock"'; } >"$here/$name"
                    chmod +x "$here/$name"
                done ;;
            *"/uv.txt")
                mkdir -p "$here/../uv/bin"
                ln -s "@FAKES@/uv" "$here/../uv/bin/uv" ;;
        esac ;;
    "-m engine.native.build")
        echo "kernels" >>"$fakes/calls"
        [ ! -e "$fakes/kernels-fail" ] ||
            [ "$(cat "$fakes/kernels-fail")" = "$(grep -c compiler.txt "$fakes/calls")" ] &&
            touch "$here/../../engine/native/src/underhill_kernels.so" ;;
    "- @ROOT@/.venv.new") ;;
    "- "*) exec "@PYTHON@" "$@" ;;
    *) echo "unexpected: $*" >&2 && exit 99 ;;
esac
"""

# `uv-fails`: it does.
UV = """#!/bin/bash
echo "uv $*" >>"@FAKES@/calls"
[ ! -e "@FAKES@/uv-fails" ]
"""

# apt-get that brings what `ldd` missed. `apt-fails`: it does not.
APT_GET = """#!/bin/bash
echo "apt-get $*" >>"@FAKES@/calls"
[ -z "${TMPDIR-}" ] || exit 100 # packages' scripts fail where that is a folder that is not there yet
[ ! -e "@FAKES@/apt-fails" ] && rm -f "@FAKES@/missing-libraries" && touch "@FAKES@/display-works"
"""

LDD = """#!/bin/bash
cat "@FAKES@/missing-libraries" 2>/dev/null
"""


def disk(free: int) -> str:
    """A df that has so many MB to spare."""
    return f"""#!/bin/bash
printf 'Filesystem 1048576-blocks Used Available Capacity Mounted\\n/dev/x 200000 900 {free} 90%% /\\n'
"""


NOTHING = "#!/bin/bash\n"


def user(number: int) -> str:
    """An `id` that says so; 0 is root."""
    return f"#!/bin/bash\necho {number}\n"
