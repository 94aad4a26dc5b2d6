#!/bin/sh
# Instruction counts of pinned predictions, beside those of ci/perf.txt. A report and no gate: counts move with compiler and C library,
# so a difference is printed and never fails. Usage: ci/perf.sh PATH-OF-BENCH
set -eu
cd "$(dirname "$0")/.."
bench=$1

if ! command -v valgrind >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -qq -y valgrind >/dev/null
    else
        echo 'no valgrind, so no instruction counts; Debian has it in the package `valgrind`'
        exit 0
    fi
fi

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
printf '%-12s %15s %15s %8s\n' prediction instructions recorded change
for config in tests/fixtures/perf/*.yaml; do
    name=$(basename "$config" .yaml)
    valgrind --tool=callgrind --callgrind-out-file="$place/$name.callgrind" \
        "$bench" predict -c "$config" --output-dir "$place/$name" >/dev/null 2>"$place/$name.log"
    count=$(sed -n 's/^.*Collected : \([0-9]*\).*$/\1/p' "$place/$name.log")
    recorded=$(sed -n "s/^$name \([0-9]*\)$/\1/p" ci/perf.txt)
    # More than 5 % is worth a look at the profile.
    awk -v name="$name" -v count="$count" -v recorded="$recorded" 'BEGIN {
        change = recorded ? 100 * (count - recorded) / recorded : 0
        note = change > 5 || change < -5 ? "  beyond 5 %: look at the profile" : ""
        printf "%-12s %15d %15d %+7.2f%%%s\n", name, count, recorded, change, note
    }'
done
