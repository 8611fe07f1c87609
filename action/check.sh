#!/usr/bin/env bash
# What action.yml runs: installs the package from the action's own checkout into an environment of its own, and checks.
# Its input is in variables (action.yml says which); nothing of it is evaluated. The exit code is that of `check`.
set -euo pipefail
set -f # arguments are split at white space, and never expanded

package=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
environment=$(mktemp -d "${RUNNER_TEMP:-/tmp}/reactrepro.XXXXXX")

case ${REACTREPRO_ALLOW_STALE:-false} in
  true) stale=(--allow-stale) ;;
  false | '') stale=() ;;
  *)
    echo "::error title=reactrepro::allow-stale is neither true nor false"
    exit 2
    ;;
esac

read -r -d '' -a more <<<"${REACTREPRO_ARGS:-}" || true
path=()
if [ -n "${REACTREPRO_PATH:-}" ]; then path=("$REACTREPRO_PATH"); fi

# -I, and the installed command: no module that lies in the checked project's folder is imported in place of a real one.
"${REACTREPRO_PYTHON:-python}" -I -m venv "$environment"
bin=$environment/bin
if [ -d "$environment/Scripts" ]; then bin=$environment/Scripts; fi # Windows
"$bin/python" -I -m pip install --quiet --disable-pip-version-check "$package"

cd -- "${REACTREPRO_FOLDER:-.}"
exec "$bin/reactrepro" check --format github ${stale[@]+"${stale[@]}"} ${more[@]+"${more[@]}"} -- ${path[@]+"${path[@]}"}
