#!/bin/sh
# Proves ci/slurm: five partitions as an array on a cluster of one node, one of them cancelled; the merge names it, running it again
# alone completes the run, and the run folder is that of one process. Debian or its like, as root; installs Slurm where it is missing.
# Usage: BENCH=PROGRAM ci/slurm/test.sh [SCENARIO]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scenario=${1:-scenarios/sweep.kdl}
export BENCH="${BENCH:?the program to test}"
# The daemons run as root.
[ "$(id -u)" = 0 ] || exec sudo --preserve-env=BENCH "$root/ci/slurm/test.sh" "$@"
cd "$root"

if ! command -v slurmctld > /dev/null || ! command -v munged > /dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client munge > /dev/null
fi

dir=$(mktemp -d)
finish() {
    sh ci/slurm/cluster.sh stop "$dir"
    wait
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM
chmod 711 "$dir"
sh ci/slurm/cluster.sh start "$dir"
export SLURM_CONF="$dir/slurm.conf"
runs=$dir/runs

# Prints the exit code of a job that has ended; waits for it, for ten minutes at the most.
exit_code() {
    for _ in $(seq 1200); do
        job=$(scontrol --oneliner show job "$1")
        case $job in
        *JobState=PENDING* | *JobState=RUNNING* | *JobState=COMPLETING* | *JobState=CONFIGURING*) sleep 0.5 ;;
        *)
            echo "$job" | sed 's/.* ExitCode=\([0-9]*\):.*/\1/'
            return
            ;;
        esac
    done
    echo "job $1 does not end" >&2
    return 1
}

submit() {
    (cd "$dir" && "$root/ci/slurm/submit.sh" "$root/$scenario" 5 "$runs" "$@")
}

echo 'in one process'
expected=0
"$BENCH" run "$scenario" --quiet --runs "$dir/one" > "$dir/one.txt" 2> "$dir/one.err" || expected=$?

echo "five partitions of $scenario, the third cancelled before it starts"
set -- $(submit '' --hold)
scancel "$1_3"
scontrol release "$1"
code=$(exit_code "$2")
log=$dir/bench-$2.log
[ "$code" = 4 ] && grep -q 'partition hash:3/5 is missing' "$log" || {
    echo "the merge ended with $code, expected 4 and the lost partition:" >&2
    cat "$dir"/bench-*.log >&2
    exit 1
}
grep 'partition hash:3/5 is missing' "$log"
grep "bench run .* --partition hash:3/5 --runs $runs" "$log"

echo 'the third again, alone'
set -- $(submit 3)
code=$(exit_code "$2")
[ "$code" = "$expected" ] || {
    echo "the merge ended with $code, one process with $expected:" >&2
    cat "$dir"/bench-*.log >&2
    exit 1
}

name=$(basename "$scenario" .kdl)
diff --recursive --exclude provenance.json "$dir/one/$name/latest/" "$runs/$name/latest/"
echo "equal: $(sha256sum < "$runs/$name/latest/run.json" | cut -c 1-12) run.json"
