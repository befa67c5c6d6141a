#!/usr/bin/env bash
# Take endpoints from a repository to the function, in any CI: publish.sh STEP...
#
#   check    find problems, and run the tests of operations against their recordings
#   diff     write the differences from what is published, by caller, to STILE_DIFF
#   comment  put STILE_DIFF into the pull request STILE_PULL_REQUEST of GitHub, with the program gh
#   publish  publish the endpoints
#   wait     wait until the function at STILE_URL serves them
#
# Every input is an environment variable, and no value becomes a part of a script: names of branches and titles of pull
# requests are anybody's words.
#
#   STILE_ENDPOINTS       the folder of the endpoints (default: endpoints)
#   STILE_BUNDLES         the place to publish to, as s3://bucket/prefix
#   STILE_STAGE           a stage of the endpoints
#   STILE_ALLOW_BREAKING  true: publish breaking changes
#   STILE_ALLOW_OPEN      true: publish what opens something to everybody, or a new root type
#   STILE_PRUNE           true: withdraw published endpoints that the folder does not have
#   STILE_DIFF            the file of the differences (default: stile-diff.md)
#   STILE_URL             the base URL of the function; empty: do not wait
#   STILE_HEADER          a header with a credential for it, as 'X-API-Key: $STILE_KEY', from the variable STILE_KEY
#   STILE_NAMES           the endpoints to wait for, as 'shop/orders shop/items' (default: all at STILE_BUNDLES)
#   STILE_WAIT_S          how long to wait (default: 180)
#   STILE_COMMAND         the command (default: .venv/bin/stile, else stile)
set -euo pipefail

endpoints=${STILE_ENDPOINTS:-endpoints}
diff_file=${STILE_DIFF:-stile-diff.md}
marker='<!-- stile diff -->'
words=() # of the command; an empty array is an error to the Bash of macOS

fail() {
    printf 'publish.sh: %s\n' "$1" >&2
    exit 2
}

stile() {
    if [ -n "${STILE_COMMAND:-}" ]; then
        "$STILE_COMMAND" "$@"
    elif [ -x .venv/bin/stile ]; then
        .venv/bin/stile "$@"
    else
        command stile "$@"
    fi
}

add_stage() {
    if [ -n "${STILE_STAGE:-}" ]; then words+=(--stage "$STILE_STAGE"); fi
}

add_prune() {
    if [ "${STILE_PRUNE:-}" = true ]; then words+=(--prune); fi
}

require_bundles() {
    [ -n "${STILE_BUNDLES:-}" ] || fail 'STILE_BUNDLES is empty: expected s3://bucket/prefix'
}

check() {
    words=(check --strict)
    add_stage
    stile "${words[@]}" -- "$endpoints"
    words=(test)
    add_stage
    stile "${words[@]}" -- "$endpoints"
}

# The exit codes tell of differences: 1 of any, 2 of breaking ones, 4 of openings, 6 of both. A reviewer decides.
diff() {
    require_bundles
    local code=0 found
    words=(diff --markdown)
    add_stage
    add_prune
    found=$(stile "${words[@]}" -- "$STILE_BUNDLES" "$endpoints") || code=$?
    case $code in 0 | 1 | 2 | 4 | 6) ;; *) exit "$code" ;; esac
    [ -n "$found" ] || fail 'stile diff ended without a report'
    printf '%s\n%s\n' "$marker" "$found" >"$diff_file"
    if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$diff_file" >>"$GITHUB_STEP_SUMMARY"; fi
}

# One comment of this script, which later runs replace. GitHub takes 65,536 characters.
comment() {
    local number=${STILE_PULL_REQUEST:-} place id
    [[ $number =~ ^[0-9]+$ ]] || fail 'STILE_PULL_REQUEST is not the number of a pull request'
    [[ ${GITHUB_REPOSITORY:-} =~ ^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$ ]] || fail 'GITHUB_REPOSITORY is not OWNER/NAME'
    [ -f "$diff_file" ] || fail "$diff_file is missing: the step diff writes it"
    place=repos/$GITHUB_REPOSITORY/issues
    id=$(gh api --paginate "$place/$number/comments" \
        --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id" | sed -n 1p)
    head -c 60000 "$diff_file" | iconv -c -f utf-8 -t utf-8 >"$diff_file.cut" || true  # a character that the cut broke
    cmp -s "$diff_file" "$diff_file.cut" || printf '\n\nThe rest is too long for a comment.\n' >>"$diff_file.cut"
    if [ -n "$id" ]; then
        gh api --method PATCH "$place/comments/$id" --field "body=@$diff_file.cut" --silent
    else
        gh api --method POST "$place/$number/comments" --field "body=@$diff_file.cut" --silent
    fi
    rm -f "$diff_file.cut"
}

publish() {
    require_bundles
    words=(publish)
    add_stage
    add_prune
    if [ "${STILE_ALLOW_BREAKING:-}" = true ]; then words+=(--allow-breaking); fi
    if [ "${STILE_ALLOW_OPEN:-}" = true ]; then words+=(--allow-open); fi
    stile "${words[@]}" -- "$endpoints" "$STILE_BUNDLES"
}

wait_until_served() {
    require_bundles
    [ -n "${STILE_URL:-}" ] || return 0
    words=(published --url "$STILE_URL" --wait "${STILE_WAIT_S:-180}")
    if [ -n "${STILE_HEADER:-}" ]; then words+=(-H "$STILE_HEADER"); fi
    words+=(-- "$STILE_BUNDLES")
    local names
    read -r -d '' -a names <<<"${STILE_NAMES:-}" || true
    if [ "${#names[@]}" -gt 0 ]; then words+=("${names[@]}"); fi
    stile "${words[@]}"
}

[ "$#" -gt 0 ] || fail 'expected steps: check, diff, comment, publish, wait'
for step in "$@"; do
    case $step in
        check) check ;;
        diff) diff ;;
        comment) comment ;;
        publish) publish ;;
        wait) wait_until_served ;;
        *) fail "unknown step: $step" ;;
    esac
done
