#!/bin/sh
# Fuzzes what reads foreign bytes, guided by coverage: each target of tests/fuzz from the seeds of the suite, for some seconds. On the
# toolchain of the project, so without the sanitizers of a nightly one. Usage: ci/fuzz.sh [SECONDS-A-TARGET]   (default: 5)
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-5}
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"

# libFuzzer is C++.
if ! command -v c++ >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -qq -y g++ >/dev/null
    else
        echo 'no C++ compiler, which libFuzzer needs; Debian has one in the package `g++`' >&2
        exit 1
    fi
fi

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
TOUCHSTONE_FUZZ_SEEDS="$place" cargo test --locked --quiet --test suite fuzzed::
RUSTC_WRAPPER="$PWD/ci/instrument" cargo build --locked --manifest-path tests/fuzz/Cargo.toml

for path in tests/fuzz/targets/*.rs; do
    target=$(basename "$path" .rs)
    [ -d "$place/$target" ] || {
        echo "the suite drives no seeds of \`$target\`" >&2
        exit 1
    }
    # Of what it prints only the end is kept: an input that fails is there in base64.
    "$CARGO_TARGET_DIR/debug/$target" "$place/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 \
        -artifact_prefix="$place/" >"$place/$target.log" 2>&1 || {
        tail -n 60 "$place/$target.log" >&2
        echo "FAILED: fuzzing \`$target\`; what fails becomes a seed of tests/suite/fuzzed.rs" >&2
        exit 1
    }
    sed -n "s|^Done \(.*\)|$target: \1|p" "$place/$target.log"
done
