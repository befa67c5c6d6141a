#!/usr/bin/env bash
# Print the path of a Python of the given minor version: infra/find_python.sh 3.13
#
# A command's name proves nothing: a version manager's `python3.13` on the PATH may be there and refuse to
# run. So each candidate is started, and says itself what it is and where.
set -euo pipefail

version=$1

executable_of() {
    "$@" - "$version" <<'PYTHON' 2>/dev/null
import sys
if "%d.%d" % sys.version_info[:2] != sys.argv[1]:
    sys.exit(1)
print(sys.executable)
PYTHON
}

executable_of "python$version" && exit
if command -v pyenv >/dev/null; then
    for installed in $(pyenv versions --bare | grep -E "^${version//./\\.}(\.[0-9]+)?$" | sort --version-sort --reverse); do
        executable_of env "PYENV_VERSION=$installed" "python$version" && exit
    done
fi
executable_of python3 && exit

echo "Python $version was not found, and this step needs it: it is what the function runs on." >&2
echo "Install it so that \`python$version\` starts, for example: pyenv install $version" >&2
exit 1
