# The computer: disk, display, and what only the system's package manager can bring.
# shellcheck shell=bash

# Debian's names of what Qt's window needs. Whether anything is missing is asked of the linker, not of this list.
QT_PACKAGES=(libglib2.0-0 libgl1 libegl1 libdbus-1-3 libfontconfig1 libxkbcommon0 libxkbcommon-x11-0
    libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libgssapi-krb5-2)

has() { # COMMAND
    command -v "$1" >/dev/null 2>&1
}

free_megabytes() { # FOLDER
    df -Pm "$1" | awk 'NR == 2 { print $4 }'
}

need_disk() { # MEGABYTES: end here unless the checkout's disk has them
    local free
    free=$(free_megabytes "$ROOT")
    [ "$free" -ge "$1" ] ||
        die "the disk is too full: the set-up needs $1 MB in $ROOT, and $free MB are free."
}

can_apt() {
    has apt-get && [ "$(id -u)" = 0 ]
}

apt_install() { # PACKAGE...: by root, on Debian and its kin. False when it did not work
    local options=(-y -q --no-install-recommends --no-upgrade -o DPkg::Lock::Timeout=120)
    # Scripts of the system's packages make their files elsewhere than in the environment, which may not be there yet.
    local apt=(env -u TMPDIR DEBIAN_FRONTEND=noninteractive apt-get)
    "${apt[@]}" install "${options[@]}" "$@" </dev/null && return
    "${apt[@]}" update -q </dev/null # the lists of a fresh system are empty
    "${apt[@]}" install "${options[@]}" "$@" </dev/null
}

install_hint() { # PACKAGE...: how a person installs these Debian packages, or what they are called elsewhere
    if has apt-get; then
        echo "sudo apt-get install $*"
    elif has dnf; then
        echo "the packages of your distribution that correspond to Debian's $* (Fedora: sudo dnf install" \
            "gcc libglvnd-glx libglvnd-egl fontconfig libxkbcommon-x11 xcb-util-cursor xcb-util-wm xcb-util-keysyms krb5-libs)"
    elif has pacman; then
        echo "the packages of your distribution that correspond to Debian's $* (Arch: sudo pacman -S" \
            "gcc libglvnd fontconfig libxkbcommon-x11 xcb-util-cursor xcb-util-wm xcb-util-keysyms krb5)"
    else
        echo "the packages of your distribution that correspond to Debian's $*"
    fi
}

compiler() { # the path of the system's C compiler that engine/native/build.py will take, or nothing
    command -v "${CC:-gcc}" || command -v gcc || command -v clang || command -v cc || true
}

missing_qt_libraries() { # ENVIRONMENT: file names of the shared libraries that Qt asks for and the system lacks
    local qt
    for qt in "$1"/lib/python3*/site-packages/PySide6; do
        ldd "$qt"/Qt{Core,Gui,Network,Svg,Widgets}.abi3.so "$qt"/Qt/plugins/platforms/libqxcb.so 2>/dev/null
    done | awk '/not found/ { print $1 }' | sort -u
}

need_qt_libraries() { # ENVIRONMENT: false, with a sentence, when some are missing and cannot be installed
    local missing
    missing=$(missing_qt_libraries "$1")
    [ -n "$missing" ] || return 0
    if can_apt && step "Installing the system libraries of the window" apt_install "${QT_PACKAGES[@]}"; then
        missing=$(missing_qt_libraries "$1")
        [ -n "$missing" ] || return 0
    fi
    say "The window needs system libraries that are not here: ${missing//$'\n'/, }"
    say "To install them: $(install_hint "${QT_PACKAGES[@]}")"
    return 1
}

need_mingw() { # what builds the kernels for Windows here; the tests go on without
    [ "$(uname -m)" = x86_64 ] || return 0
    has x86_64-w64-mingw32-gcc-posix && return
    can_apt && step "Installing mingw, for tests of the Windows library (about 300 MB)" \
        apt_install gcc-mingw-w64-x86-64-posix && return
    say "Tests of the Windows library are left out: mingw is missing. To have it:" \
        "$(install_hint gcc-mingw-w64-x86-64-posix)"
}

need_windows_python() { # what makes a Debian with Wine and Windows' own Python; false, with a sentence, where it cannot be
    local out="Tests on Windows' own Python are left out:" free
    [ "$(uname -m)" = x86_64 ] || { say "$out this is not x86_64." && return 1; }
    can_apt || { say "$out they need root and apt." && return 1; }
    unshare --mount --pid --ipc --fork true 2>/dev/null || { say "$out this system allows no mounts." && return 1; }
    free=$(free_megabytes "$HOME")
    [ "$free" -ge 8000 ] || { say "$out they take 8 GB in $HOME, and $free MB are free." && return 1; }
    has debootstrap || step "Installing debootstrap, for tests on Windows' own Python" apt_install debootstrap ||
        { say "$out debootstrap cannot be installed." && return 1; }
}

window_can_open() { # ENVIRONMENT: whether Qt reaches a display. Qt aborts when it does not, hence the subshell
    (
        ulimit -c 0
        timeout 20 "$1/bin/python" -c 'from PySide6.QtGui import QGuiApplication; QGuiApplication([])'
        exit $?
    ) >/dev/null 2>&1
}
