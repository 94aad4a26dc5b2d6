#!/bin/sh
# Runs every test: unit, black-box, architecture and documentation. The last line says how many passed.
# Arguments are filters, passed on to the test runner.
set -eu
cd "$(dirname "$0")/.."
export CLIPPY_CONF_DIR="$PWD/ci"

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Runs a command, shows and keeps its output, and returns its exit code (a pipe would hide it).
keep() {
    { { "$@" 2>&1; echo $? >"$log.code"; } | tee -a "$log"; }
    code=$(cat "$log.code")
    rm -f "$log.code"
    return "$code"
}

# Adds up one word of all summary lines: `12 passed`, `1 failed`, `0 skipped`.
count() {
    sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -E '^test result:|Summary \[' |
        grep -oE "[0-9]+ ($1)" | awk '{ sum += $1 } END { print sum + 0 }'
}

status=0
if cargo nextest --version >/dev/null 2>&1; then
    keep cargo nextest run --locked --config-file ci/nextest.toml "$@" || status=1
    keep cargo test --locked --doc -- "$@" || status=1
else
    keep cargo test --locked --no-fail-fast -- "$@" || status=1
fi

passed=$(count passed)
failed=$(count failed)
echo "tests: $passed passed, $failed failed, $(count 'skipped|ignored') skipped"
if [ "$passed" -eq 0 ]; then
    echo "no test ran: nothing was shown" >&2
    exit 1
fi
exit "$status"
