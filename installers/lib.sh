# What run.sh and test.sh share. Sourced, never run: it defines functions and variables, and does nothing by itself.
# Messages go to standard error, so that standard output stays the program's own.
# shellcheck shell=bash

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"

# shellcheck source=installers/lib/say.sh
source "$ROOT/installers/lib/say.sh"
# shellcheck source=installers/lib/system.sh
source "$ROOT/installers/lib/system.sh"
# shellcheck source=installers/lib/python.sh
source "$ROOT/installers/lib/python.sh"
# shellcheck source=installers/lib/environment.sh
source "$ROOT/installers/lib/environment.sh"
