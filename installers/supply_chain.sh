#!/usr/bin/env bash
# What Underhill is made of, and whether anything known is wrong with it. For whoever makes a release.
#
#   bash installers/supply_chain.sh bill FILE    write the bill of materials: every locked library, CycloneDX, JSON
#   bash installers/supply_chain.sh audit        look every locked library up among the known vulnerabilities
#
# The tools come from requirements/release.txt into a temporary folder. Both need a network; nothing is sent but names
# and versions of libraries. The audit's exit code is 1 where something was found.
set -euo pipefail
# shellcheck source=installers/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() { # EXIT CODE
    sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit "$1"
}

locked() { # every library that an installation has, and torch as it is known to the world: without its build's name
    sed 's/^torch==\([^+]*\)+cpu/torch==\1/' "$ROOT/requirements/torch.txt"
    cat "$ROOT/requirements/runtime.txt"
}

case "${1:-}" in
    bill) [ -n "${2:-}" ] || usage 2 ;;
    audit) ;;
    *) usage 2 ;;
esac
LOG=$(mktemp)
folder=$(mktemp -d)
trap 'rm -rf "$folder" "$LOG"' EXIT
find_python
step "Making a virtual environment" make_environment "$folder" || failed "Making a virtual environment"
step "Installing the tools" "$folder/bin/python" -m pip --no-input install --no-deps --require-hashes \
    -r "$ROOT/requirements/release.txt" || failed "Installing the tools"

if [ "$1" = bill ]; then
    # Where a library lies with whoever makes the release says nothing to those who read the bill.
    locked | "$folder/bin/cyclonedx-py" requirements --pyproject "$ROOT/pyproject.toml" --short-PURLs \
        --output-reproducible --output-format JSON --output-file "$2" - >"$LOG" 2>&1 || failed "The bill of materials"
    say "$2 names $(grep -c '"bom-ref": "requirements' "$2") libraries."
else
    locked >"$folder/locked.txt"
    "$folder/bin/pip-audit" --strict --require-hashes --disable-pip -r "$folder/locked.txt"
fi
