//! Goldens and gates.

use crate::diag::declare::area;

area! {
    ($) gates;

    GoldenMissing "gate::golden_missing" Error "The golden that the scenario names does not exist."
        "Without it the gate cannot say whether the results are the accepted ones, so it is red. Look at the results; where they are right, `bench accept FILE --reason \"...\"` writes the golden.";
    GoldenWrong "gate::golden_wrong" Error "The golden cannot be read."
        "It is no golden file, or a value in it is not of its type. Goldens are written by `bench accept` and not by hand.";
    GoldenEdited "gate::golden_edited" Error "The golden contradicts itself."
        "The report digest is the accepted one, and what the golden says about that report is not what the report says: the file was edited by hand.";
    GoldenDefinition "gate::other_definition" Error "Golden and report use different metric definitions."
        "Figures under different definitions are never compared: there is no verdict (exit 4). Accept the golden anew, with the change of definitions as the reason.";
    GateDrift "gate::drift" Error "A report differs from the accepted one."
        "Simulated results are exact: a digest is equal or it is drift, and there is no tolerance. The message names the section that differs first: `inputs` (something else was asked), `events` (the engine did something else), `requests` (a request saw something else) or `summary` (only the figures differ). Where the change is wanted, accept it with its reason.";
    GateJobNew "gate::job_unaccepted" Error "The golden lacks a job of the plan."
        "A job that nobody accepted is red. Where it is wanted, accept the golden anew.";
    GateJobGone "gate::job_gone" Error "The plan lacks a job of the golden."
        "A job that is no longer run is red: it might have been lost. Where it is wanted, accept the golden anew.";
    GateJobNotRun "gate::job_not_run" Error "A job of the golden has no report."
        "The job was skipped or interrupted, or it broke, so nothing could be compared.";
    GateLive "gate::live" Error "What a replay measured does not hold the bounds of the scenario."
        "`gate` holds a replay to bounds: `errors max=` to how many requests may fail, the others to times in milliseconds. A percentile of too few requests is no estimate and is absent (p90 from 64, p95 from 130, p99 from 662 samples), and where the client itself was the limit a latency says nothing of the server: there is no verdict then (exit 4).";
    AcceptUnstable "accept::unstable" Error "Equal runs gave different reports."
        "Before a golden is written each changed job runs three times in fresh processes. These runs differ, so nothing is accepted: find out why first.";
    AcceptForbidden "accept::forbidden" Error "Nothing under `pins/` is written in continuous integration."
        "`CI` is set. Goldens are accepted by a person on a machine of their own.";
    AcceptFailed "accept::failed" Error "A job failed, so nothing is accepted."
        "A golden holds results; a job that failed has none.";
    AcceptInterrupted "accept::interrupted" Error "Accepting was interrupted."
        "A signal came before every run had ended and the golden was written. Nothing is accepted; the old golden is as it was.";
    AcceptNoGate "accept::no_gate" Error "The scenario names no golden."
        "Add `gate { golden \"pins/goldens/NAME.kdl\" }` to the scenario.";
    UpgradeChanges "upgrade::changes" Error "The declared changes are wrong."
        "`changes.kdl` stands beside the pin of the newer version and says which jobs it changes, in which metrics, which way, why, and where that is discussed. What it declares is held against what happens, so nothing in it may be unknown.";
    UpgradeSame "upgrade::same_version" Error "A version is held against itself."
        "`--from` and `--to` (`--good` and `--bad`) mean the same version of the engine, so every job would be identical. Whether a version repeats its own answers is judged in each upgrade: every job is asked twice.";
    UpgradeOtherFrom "upgrade::other_from" Warning "The changes are declared against another version."
        "`changes.kdl` says against which versions its changes were declared. Against any other nothing is declared, and every drift is undeclared.";
    UpgradeUndeclared "upgrade::undeclared" Error "The newer version answers otherwise, and nobody declared it."
        "Answers are exact: there is no tolerance. The message names the first request and field that differ and the figures that moved. Where the change is wanted, declare it in `changes.kdl` beside the newer pin, with its reason.";
    UpgradeAbsent "upgrade::absent" Error "A declared change did not happen."
        "The newer version was declared to answer a job otherwise, and it does not, or not in the metric that was named. The declaration is wrong, or the upgrade is.";
    UpgradeIncomparable "upgrade::incomparable" Error "A job cannot be compared."
        "One of the two versions cannot be asked what the job asks. There is no verdict on it (exit 4).";
    UpgradeFailed "upgrade::failed" Error "A job failed under one of the versions, or a version disagrees with itself."
        "Each version answers every job twice, in two processes, before the two are compared. One that fails, or does not say the same twice, is not judged.";
    UpgradeIdle "upgrade::idle" Error "A declared change speaks of no job of the scenario that it names."
        "A change that names a scenario is owed to it: it must speak of at least one of its jobs. A pattern is misspelt, or the jobs are gone.";
    UpgradeUnmatched "upgrade::unmatched" Warning "A declared change speaks of no job that was judged."
        "The change names no scenario, so it may belong to another one. Name the scenario in it, and its absence there is an error.";
    UpgradeBlind "upgrade::blind" Error "A scenario does not see a known perturbation."
        "`--controls` plants changes that a careless edit of an engine would make. A scenario in which no job answers otherwise would call such an engine identical. Add a job that would see it.";
    UpgradeEmpty "upgrade::empty" Error "There is nothing to compare."
        "The scenarios have no simulation job that both versions can be asked, so there is no verdict (exit 4).";
    BisectOrder "bisect::order" Error "The bad version is not behind the good one."
        "Versions are searched in the registry's order, from the good one to the bad one; nightlies by their numbers; of `native` the behaviours, oldest first.";
    BisectUnavailable "bisect::unavailable" Warning "A version cannot be asked."
        "Its package cannot be resolved or built, or it cannot be asked what the good version can. The search goes on without it; where the change lies next to it, the answer is a range.";
    BisectInterrupted "bisect::interrupted" Error "The search was interrupted."
        "A signal came before the first version that answers otherwise was found. Runners that were built are kept, so the next search is faster.";
    ExplainAlone "explain::alone" Error "There is nothing to hold a side against."
        "`bench explain A B` takes two sides: run folders, goldens or scenarios. `bench explain FILE` takes the golden that the scenario names as the first; `bench explain FILE --from V --to W` runs the scenario under two versions of an engine.";
    ExplainNothing "explain::nothing" Error "The two sides have no job in common."
        "Jobs are paired by their names. The sides are of two scenarios: nothing is comparable (exit 4). A job that `--job` names and one side alone has is told as that (exit 3).";
    MinimiseEqual "minimise::equal" Error "There is no difference to make smaller."
        "Both versions answer the job alike, event by event; or one of them cannot run it. `bench explain FILE --from V --to W` says which jobs differ. Nothing was written (exit 4).";
    MinimiseInterrupted "minimise::interrupted" Error "The search was interrupted before there was anything to write."
        "A signal came before a job that differs was found and could be written. A search that is interrupted later writes the smallest job that it has found, proves it, and says that a smaller one may exist (exit 130 as well).";
    MinimiseOutput "minimise::output" Error "The reproduction cannot be written."
        "`--output` names a folder that is empty or not there: what is written is a project of its own, with its pins, and nothing is written over.";
    MinimiseUnproven "minimise::unproven" Error "The reproduction does not reproduce."
        "Before it is told, the written files are read back and run under both versions. They answered alike, although the same job differed in memory: a bug of this program. The files are left for whoever reports it.";
    MockScript "mock::script" Error "A script of the mock server is wrong."
        "A script says which request gets what answer: docs/mock.md has its nodes. The label shows the value that fits none of them.";
    MockRead "mock::read" Error "A script of the mock server cannot be read."
        "`--script` names a file with a script in KDL. The message says what the system answered.";
    MockStart "mock::start" Error "The mock server cannot be started."
        "The address is in use or not of this machine, or the file of a socket is there already. Name another with `--port` or `--unix`; without either the system picks a free port.";
    DiffDefinition "diff::other_definition" Error "The two sides use different metric definitions."
        "Figures under different definitions are never compared: there is no verdict (exit 4).";
}

pub(super) use gates;
