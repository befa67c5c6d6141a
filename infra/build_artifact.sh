#!/usr/bin/env bash
# Fill a folder with what the Lambda function needs: infra/build_artifact.sh FOLDER [arm64|x86_64]
#
# `sam build` calls it by way of `make build-StileFunction`, with the folder alone. Then samconfig.toml says what to build
# (infra/build_settings.py). With an architecture it is for tests and benchmarks, and this comes from the environment:
#   STILE_EXTRAS         what is needed beyond the rest: code and jwt by endpoints, as the command says when it
#                        publishes them, page for the page in browsers
#   STILE_CODE           folders of packages and files of modules, separated by spaces, that endpoints take tools from
# Either way:
#   STILE_LOCAL_BUNDLES  a folder of bundles to put beside the code, for `sam local` (events/local-env.json)
set -euo pipefail
cd "$(dirname "$0")/.."

artifact=$1
runtime=3.13 # the Runtime in template.yaml

if [ $# -eq 1 ]; then
    python=$(infra/find_python.sh "$runtime")
    settings=$("$python" infra/build_settings.py)
    { read -r architecture && read -r extras && code=$(cat); } <<<"$settings"$'\n'
    place="samconfig.toml, code"
else
    architecture=$2
    extras=${STILE_EXTRAS:-}
    code=${STILE_CODE:-}
    place=STILE_CODE
fi

case $architecture in
arm64) machine=aarch64 ;;
x86_64) machine=x86_64 ;;
*) echo "ARCH is arm64 or x86_64, not \"$architecture\"." >&2 && exit 1 ;;
esac

# Each names all of run.txt and one thing more: pydantic for tools in Python, or what verifies tokens. The page is files.
requirements=()
has_page=
for extra in ${extras//,/ }; do
    case $extra in
    code | jwt) requirements+=("requirements/run-$extra.txt") ;;
    page) has_page=yes ;;
    *) echo "STILE_EXTRAS is code, jwt and page with commas, or nothing, not \"$extras\"." >&2 && exit 1 ;;
    esac
done
requirements=("${requirements[@]:-requirements/run.txt}")
# A repository that `stile new` made has this package as a wheel.
if [ -f vendor/requirements.txt ]; then
    requirements+=(vendor/requirements.txt)
fi

for module in $code; do
    if [ ! -d "$module" ] && [[ ! -f $module || $module != *.py ]]; then
        echo "$place: $module is neither the folder of a package nor a module's file." >&2 && exit 1
    fi
done

python=$(infra/find_python.sh "$runtime")
pip=("$python" -m pip)
if ! "${pip[@]}" --version >/dev/null 2>&1; then # Debian's own Python comes without
    tools=$(mktemp -d)
    trap 'rm -rf "$tools"' EXIT
    "$python" -m venv "$tools"
    pip=("$tools/bin/python" -m pip)
fi

mkdir -p "$artifact"
if [ -n "$(ls -A "$artifact")" ]; then
    echo "$artifact is not empty: what lies there would be deployed too." >&2
    exit 1
fi
artifact=$(cd "$artifact" && pwd)

echo "Installing ${requirements[*]} for Python $runtime on $architecture"
# The lock names everything, so nothing is resolved; boto3 comes with the Lambda runtime.
"${pip[@]}" install --quiet --quiet --disable-pip-version-check --no-compile --no-deps \
    --require-hashes "${requirements[@]/#/--requirement=}" --only-binary=:all: \
    --platform "manylinux2014_$machine" --implementation cp --python-version "$runtime" --target "$artifact"

# Commands, test suites and what only an installer or a type checker reads. METADATA stays, because packages look up
# their own version there, and so do the licences.
rm -rf "$artifact/bin"
find "$artifact" -type d \( -name tests -o -name benchmarks \) -prune -exec rm -rf {} +
find "$artifact" -path '*.dist-info/*' -type f \
    \( -name INSTALLER -o -name RECORD -o -name REQUESTED -o -name WHEEL -o -name entry_points.txt \) -delete
find "$artifact" -type f \( -name '*.pyi' -o -name py.typed \) -delete

# Of Powertools what logs: its web framework and its utilities for other events are half a megabyte that nothing uses.
rm -rf "$artifact/aws_lambda_powertools/event_handler"
find "$artifact/aws_lambda_powertools/utilities" -mindepth 1 -maxdepth 1 -type d ! -name jmespath_utils -exec rm -rf {} +

# The half of the function for requests, and what modules of authors import: the compiler, the commands and the audience
# work at deploy time only.
if [ ! -f vendor/requirements.txt ]; then
    cp -R handler stile "$artifact/"
fi
rm -rf "$artifact/handler/audience" "$artifact/handler/compiler" "$artifact/handler/commands" "$artifact/handler/__main__.py"
if [ -z "$has_page" ]; then
    rm -rf "$artifact/handler/page"
fi

for module in $code; do
    if [ -e "$artifact/$(basename "$module")" ]; then
        echo "$place: $module has the name of something that is in the artefact already." >&2 && exit 1
    fi
    echo "Adding $module"
    cp -R "$module" "$artifact/"
done
find "$artifact" -type d -name __pycache__ -prune -exec rm -rf {} +

"$python" infra/hash_certificates.py "$artifact"

# Unchecked, because zip tools change file times: bytecode that compares them would count as stale, and be
# compiled again at every cold start, the code folder being read-only. Paths as tracebacks will show them.
echo "Compiling"
"$python" -m compileall -q --invalidation-mode unchecked-hash -s "$artifact" -p /var/task "$artifact"
"$python" infra/pack_modules.py "$artifact" $code
find "$artifact" -type d -empty -delete

release=$("$python" infra/release.py "$artifact")
echo "Release $release"

# The function compares it with where it runs (handler/cold/artefact.py).
"$python" -c 'import json, pathlib, sys
name, architecture, python, release, extras, *code = sys.argv[1:]
made = {"architecture": architecture, "python": python, "extras": extras.split(",") if extras else [],
        "code": [pathlib.Path(path).name for path in code], "release": release}
pathlib.Path(name).write_text(json.dumps(made) + "\n", "utf-8")' \
    "$artifact/handler/build.json" "$architecture" "$runtime" "$release" "$extras" $code

if [ -n "${STILE_LOCAL_BUNDLES:-}" ]; then
    echo "Adding the bundles in $STILE_LOCAL_BUNDLES"
    cp -R "$STILE_LOCAL_BUNDLES" "$artifact/bundles"
fi
