#!/bin/sh
# Everything a change must pass, on a machine with a Rust toolchain and nothing else.
# Usage: ci/run.sh [STEP...]   (default: all steps, in order; `ci/run.sh list` names them)
set -eu
cd "$(dirname "$0")/.."
export CLIPPY_CONF_DIR="$PWD/ci"
export CI="${CI:-true}"
export CARGO_INCREMENTAL=0
export CARGO_TERM_COLOR="${CARGO_TERM_COLOR:-auto}"

steps='tools format lint docs build tests fuzz generated readme gate engines perf distribute nix'

step_tools() {
    cargo --version
    for component in rustfmt clippy; do
        cargo "$(echo "$component" | sed 's/rustfmt/fmt/')" --version >/dev/null 2>&1 || {
            echo "cargo has no $component; \`rustup component add $component\` adds it" >&2
            return 1
        }
    done
    cargo nextest --version 2>/dev/null | head -n 1 || echo 'no cargo-nextest: tests run through cargo test'
}

step_format() {
    cargo fmt --all --check -- --config-path ci
}

# All targets: this is also what compiles the benches.
step_lint() {
    cargo clippy --locked --all-targets -- -D warnings
}

# Both profiles side by side: each ends with a crate or a link that keeps one core busy and leaves the others idle.
step_build() {
    cargo build --locked --release &
    released=$!
    cargo test --locked --no-run || {
        kill "$released"
        return 1
    }
    wait "$released"
}

step_tests() {
    ci/test.sh
}

step_fuzz() {
    ci/fuzz.sh
}

# Private items are documented too, so links to them resolve.
step_docs() {
    RUSTDOCFLAGS='-D warnings -A rustdoc::private-intra-doc-links' cargo doc --locked --no-deps --document-private-items
}

step_generated() {
    bench docs --check
    bench fmt --check scenarios/*.kdl
    bench lint scenarios/*.kdl
    bench pins verify
    # As `ci/nix/plans` writes them.
    for scenario in scenarios/*.kdl; do
        bench plan "$scenario" --format nix-json | diff -u "ci/nix/jobs/$(basename "$scenario" .kdl).json" -
    done
}

# The two commands README.md opens with; the second is the step `tests`.
step_readme() {
    cargo run --locked --release -- scenarios/dynamo.kdl
}

step_gate() {
    bench check scenarios/*.kdl
}

# The runners of two nightlies, built once for what they are built from in a cache outside of the checkout, and what they answer.
step_engines() {
    for nightly in 86 87; do
        bench engines build aisimulate --version "0.13.0-dev.$nightly"
        bench engines verify aisimulate --version "0.13.0-dev.$nightly" --conformance
        bench parity --engine aisimulate --version "0.13.0-dev.$nightly"
    done
    bench parity scenarios/upgrade-aisimulate.kdl --engine aisimulate --version 0.13.0-dev.87
    bench upgrade scenarios/upgrade-aisimulate.kdl --engine aisimulate --from 0.13.0-dev.86 --to 0.13.0-dev.87
}

# Instruction counts and CPU times, printed: a report, never a gate.
step_perf() {
    cargo build --locked --release
    ci/perf.sh "${CARGO_TARGET_DIR:-$PWD/target}/release/bench"
    bench perf sim
}

# Partitions under Slurm and under a stand-in for Kubernetes: needs root or sudo, and Debian where Slurm or Python's yaml is missing.
step_distribute() {
    cargo build --locked --release
    export BENCH="${CARGO_TARGET_DIR:-$PWD/target}/release/bench"
    ci/k8s/test.sh
    ci/slurm/test.sh
}

# The flake, through a stand-in for nixpkgs: needs root on Debian where Nix and sshd are missing. `ci/nix/prove` shows the rest, which takes longer than all of this.
step_nix() {
    ci/nix/prove short
}

# Runs the released program.
bench() {
    cargo run --locked --quiet --release -- "$@"
}

case "$#:${1:-}" in
1:list)
    echo "$steps"
    exit 0
    ;;
1:*)
    # One step: in this process, so that `set -e` holds in all of it.
    "step_$1"
    exit 0
    ;;
esac

times=''
for step in ${*:-$steps}; do
    printf '\n== %s\n' "$step"
    from=$(date +%s)
    sh ci/run.sh "$step" || {
        printf '\n%sFAILED: %s (ci/run.sh %s repeats it)\n' "$times" "$step" "$step" >&2
        exit 1
    }
    times="$times$(printf '%6d s  %s' "$(($(date +%s) - from))" "$step")
"
done
printf '\n%sall steps passed\n' "$times"
