#!/bin/sh
# Runs a scenario as an array of Slurm tasks and merges what they leave.
# Usage: [BENCH=PROGRAM] ci/slurm/submit.sh SCENARIO PARTITIONS RUNS [TASKS] [SBATCH-OPTION...]
#   RUNS   a new folder that every node sees
#   TASKS  which partitions to run, as `--array` takes them; all (1-PARTITIONS) where it is not given or empty.
#          A lost partition is run again alone: ci/slurm/submit.sh SCENARIO PARTITIONS RUNS 3
# Prints the ids of the array and of the merge. The merge starts when every task has ended, however: it is `bench merge` that knows
# whether a partition is missing, names it, and exits with 4.
set -eu
scenario=$1 partitions=$2 runs=$3 tasks=${4:-1-$2}
shift "$(($# < 4 ? $# : 4))"
here=$(dirname "$0")
export SCENARIO="$scenario" PARTITIONS="$partitions" RUNS="$runs"
array=$(sbatch --parsable --export=ALL --array="$tasks" "$@" "$here/partition.sbatch")
merge=$(sbatch --parsable --export=ALL --dependency="afterany:$array" "$here/merge.sbatch")
echo "$array $merge"
