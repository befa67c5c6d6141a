#!/usr/bin/env bash
# Remove old versions of the function: remove_versions.sh FUNCTION [--keep NUMBER] [--remove]
#
# Names the versions that no alias leads to, except the youngest (3 by default), and removes them if --remove is given.
# With SnapStart, AWS bills the snapshot of each version that exists.
set -euo pipefail

fail() {
    printf 'remove_versions.sh: %s\n' "$1" >&2
    exit 2
}

function='' keep=3 remove=false
while [ $# -gt 0 ]; do
    case $1 in
    --keep)
        keep=${2:-}
        shift
        ;;
    --remove) remove=true ;;
    -*) fail "$1: expected FUNCTION [--keep NUMBER] [--remove]" ;;
    *)
        [ -z "$function" ] || fail "$1: expected one function"
        function=$1
        ;;
    esac
    shift || fail '--keep: expected a number'
done
[ -n "$function" ] || fail 'expected the output FunctionName of the stack'
[[ $keep =~ ^[1-9][0-9]{0,3}$ ]] || fail "--keep $keep: expected a number from 1 to 9999"
# A qualified name, or an ARN with a version, would be asked for that version alone.
[[ $function =~ ^[A-Za-z0-9_-]{1,64}$ ]] || fail "$function: expected the name of a function, without a version"

# The versions that aliases lead to: their own, and that of a part of the requests while a release moves. An alias that
# moves meanwhile is safe, too: Lambda refuses to remove a version that an alias leads to.
query='Aliases[].[FunctionVersion, keys(RoutingConfig.AdditionalVersionWeights || `{}`)][][]'
served=" $(aws lambda list-aliases --function-name "$function" --output text --query "$query" | tr '\n\t' '  ') "
[ -n "${served// /}" ] || fail "$function has no alias, so nobody knows which version is served: nothing was removed"
versions=$(aws lambda list-versions-by-function --function-name "$function" --output text --query 'Versions[].[Version]')
old=$(printf '%s\n' "$versions" | sed '/^[0-9][0-9]*$/!d' | sort -rn | tail -n "+$((keep + 1))" | sort -n)
[ -n "$old" ] || printf 'no version is older than the %s youngest\n' "$keep"
for version in $old; do
    case $served in *" $version "*) continue ;; esac
    if $remove; then
        aws lambda delete-function --function-name "$function" --qualifier "$version" >/dev/null
        printf 'version %s: removed\n' "$version"
    else
        printf 'version %s\n' "$version"
    fi
done
$remove || printf 'Nothing was removed: --remove removes them.\n'
