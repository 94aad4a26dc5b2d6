#!/bin/sh
# A Slurm cluster of one node on the loopback interface, for ci/slurm/test.sh: munged, slurmctld and slurmd in a folder of their own.
# Nothing outside of that folder is read or written; no cgroups, no accounting. Must run as root.
# Usage: cluster.sh start DIR | stop DIR      then: export SLURM_CONF=DIR/slurm.conf
set -eu
dir=$2

config() {
    # Ports of our own: a cluster that runs here already keeps its.
    port=$((20000 + $$ % 20000))
    cat > "$dir/slurm.conf" <<CONF
ClusterName=bench
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
KillWait=1
MinJobAge=86400
ReturnToService=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=bench Nodes=localhost Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
CONF
    # Nothing here uses cgroups; older versions know no way of saying so, and this plugin does nothing until it is used.
    case $(slurmd -V | sed 's/[^0-9]*//') in
    1?.* | 2[0-2].*) plugin=cgroup/v1 ;;
    *) plugin=disabled ;;
    esac
    echo "CgroupPlugin=$plugin" > "$dir/cgroup.conf"
}

start() {
    mkdir -p "$dir/state" "$dir/spool"
    chmod 711 "$dir"
    config
    head -c 1024 /dev/urandom > "$dir/munge.key"
    chmod 400 "$dir/munge.key"
    munged --force --foreground --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
        --log-file="$dir/munged.log" --seed-file="$dir/munged.seed" > "$dir/munged.out" 2>&1 &
    echo $! >> "$dir/pids"
    until_true test -S "$dir/munge.socket"
    slurmctld -D -c -f "$dir/slurm.conf" > "$dir/slurmctld.out" 2>&1 &
    echo $! >> "$dir/pids"
    slurmd -D -N localhost -f "$dir/slurm.conf" > "$dir/slurmd.out" 2>&1 &
    echo $! >> "$dir/pids"
    until_true is_idle
}

is_idle() {
    SLURM_CONF="$dir/slurm.conf" sinfo --noheader --format=%t 2> /dev/null | grep -q '^\(idle\|mix\)$'
}

# Waits for a command to succeed, for half a minute at the most.
until_true() {
    for _ in $(seq 60); do
        if "$@"; then return 0; fi
        sleep 0.5
    done
    echo "the cluster does not start: $*" >&2
    tail -n 20 "$dir"/*.log "$dir"/*.out >&2
    return 1
}

stop() {
    [ -e "$dir/pids" ] || return 0
    while read -r pid; do kill "$pid" 2> /dev/null || true; done < "$dir/pids"
    # They still write into the folder while they end.
    while read -r pid; do until_true has_ended "$pid"; done < "$dir/pids"
}

has_ended() {
    ! kill -0 "$1" 2> /dev/null || grep -q '^State:.Z' "/proc/$1/status"
}

"$1"
