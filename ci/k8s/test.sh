#!/bin/sh
# Proves ci/k8s without a cluster: a stand-in runs the commands of the two manifests. One of five partitions is lost; the merge names it,
# the command that it prints completes the run, and the run folder is that of one process. Needs Python with yaml, which it installs on
# Debian or its like.
# Usage: BENCH=PROGRAM ci/k8s/test.sh
set -eu
cd "$(dirname "$0")/../.."
bench=${BENCH:?the program to test}
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
python3 -c 'import yaml' 2> /dev/null || /usr/bin/python3 -c 'import yaml' 2> /dev/null || {
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-yaml > /dev/null
}
# A Python that is not Debian's does not see what Debian installs.
python=python3
"$python" -c 'import yaml' 2> /dev/null || python=/usr/bin/python3

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
mkdir "$dir/bin" "$dir/project"
cp "$bench" "$dir/bin/bench"
cp -r scenarios pins "$dir/project/"
export PATH="$dir/bin:$PATH"

pod() { "$python" ci/k8s/stand_in.py ci/k8s/partitions.yaml "$dir/project" "$1"; }
merge() { "$python" ci/k8s/stand_in.py ci/k8s/merge.yaml "$dir/project"; }

echo 'pods 0, 1, 3 and 4; pod 2 is lost'
for index in 0 1 3 4; do pod "$index" > /dev/null 2> "$dir/pod-$index" || { cat "$dir/pod-$index" >&2; exit 1; }; done
code=0
merge > "$dir/merge" 2>&1 || code=$?
[ "$code" = 4 ] && grep 'partition hash:3/5 is missing' "$dir/merge" || {
    echo "the merge ended with $code, expected 4 and the lost partition:" >&2
    cat "$dir/merge" >&2
    exit 1
}
command=$(sed -n 's/.*merge again: \(bench run .*\)/\1/p' "$dir/merge")
echo "$command"
(cd "$dir/project" && $command > /dev/null 2>&1)
code=0
merge > "$dir/merge.txt" 2> "$dir/merge" || code=$?

echo 'the same in one process'
expected=0
(cd "$dir/project" && bench run scenarios/sweep.kdl --quiet --runs "$dir/one" > "$dir/one.txt" 2> "$dir/one.err") || expected=$?
[ "$code" = "$expected" ] || { echo "the merge ended with $code, one process with $expected:" >&2; cat "$dir/merge" >&2; exit 1; }
diff "$dir/one.txt" "$dir/merge.txt"
diff --recursive --exclude provenance.json "$dir/one/sweep/latest/" "$dir/project/runs/k8s/sweep/latest/"
echo "equal: $(sha256sum < "$dir/one/sweep/latest/run.json" | cut -c 1-12) run.json"
