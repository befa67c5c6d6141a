#!/usr/bin/env bash
# Make the environment that runs `stile serve`: infra/build_server.sh FOLDER WHEEL
#
# The Dockerfile runs it. FOLDER is a virtual environment of the Python that PYTHON names, with the locked packages of the
# command, each verified by its digest, and the wheel of `make dist`. It has no pip, because nothing is installed later.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
wheel=$2
python=${PYTHON:-python3}

if [ ! -f "$wheel" ]; then
    echo "$wheel does not exist: \`make dist\` builds the wheel." >&2
    exit 1
fi
"$python" -m venv --without-pip "$folder"
pip=("$python" -m pip --python "$folder/bin/python" install --quiet --disable-pip-version-check --no-deps)
"${pip[@]}" --only-binary=:all: --require-hashes --requirement requirements/cli.txt
"${pip[@]}" --no-index "$wheel"
