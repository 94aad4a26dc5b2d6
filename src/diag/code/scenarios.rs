//! Scenarios.

use crate::diag::declare::area;

area! {
    ($) scenarios;

    ScenarioFile "scenario::file" Error "A scenario file cannot be read."
        "The file does not exist, may not be read, or is not UTF-8. Paths of `include` are relative to the file that names them.";
    ScenarioRoot "scenario::root" Error "There is no project root."
        "The root is the nearest folder above the scenario that holds `pins/`. Name another with `--root DIR`.";
    ScenarioIncludeCycle "scenario::include_cycle" Error "Files include each other."
        "An included file may not include, directly or through others, a file that includes it. Move what both need into a third file.";
    ScenarioIncludeOutside "scenario::include_outside" Error "An included file lies outside of the project."
        "What a run leaves names its files relative to the project root, so that it is the same on every machine. Move the file below the root, the folder that holds `pins/`.";
    ScenarioHarnessVersion "scenario::harness_version" Error "The scenario asks for another version of `bench`."
        "`harness-version` says which versions the scenario was written for. Nothing else of the file is judged, because another version may read it differently.";
    ScenarioSource "scenario::source" Error "A workload has no source of requests, or several."
        "A workload has exactly one of `trace`, `synthetic`, `synthetic-session` and `graph`.";
    ScenarioLoad "scenario::load" Error "The load does not fit the source."
        "A trace has its own timestamps, or is offered in a closed loop; synthetic requests arrive at a rate or in a closed loop; recorded sessions are paced by `recorded`.";
    ScenarioConflict "scenario::conflict" Error "Values contradict each other."
        "Each value is allowed by itself, but not beside the other. The message names both.";
    ScenarioBackend "scenario::backend" Error "The backend has no such setting."
        "Engines differ: intervals, tiers, block sizes and speculation belong to some of them only.";
    ScenarioWorkerRole "scenario::worker_role" Error "The workers do not fit the mode."
        "Mode `aggregated` has one `worker \"aggregated\"`; mode `disaggregated` has one `worker \"prefill\"` and one `worker \"decode\"`.";
    ScenarioUnknownName "scenario::unknown_name" Error "The scenario declares nothing of this name."
        "`simulate`, `replay` and `gate` refer to workloads, deployments and replays by name. The help lists those that are declared.";
    ScenarioUnknownPin "scenario::unknown_pin" Error "A name is used and not pinned."
        "Every trace, model, hardware, timing table and engine that the scenario uses is listed under `pins` with its digest, so that one file says what was run. Add it and let `bench pin FILE` fill in the digest.";
    ScenarioUnusedPin "scenario::unused_pin" Warning "A pin is not used."
        "The scenario pins something that none of its workloads, deployments and blocks uses. It changes no job; remove it, or use it.";
    ScenarioUnusedDeclaration "scenario::unused_declaration" Warning "A workload or deployment is not used."
        "No `simulate` or `replay` names it, so it changes no job.";
    ScenarioIdleSetting "scenario::idle_setting" Warning "A setting has no effect."
        "The file states a value that nothing reads beside the others: two ways of saying one thing of which one counts, or a setting of a feature that is off. The run is the same without it. Remove it, or state what makes it count.";
    ScenarioForeignSetting "scenario::foreign_setting" Warning "A setting is of another model or deployment."
        "A timing table was measured for another model, GPU, engine or parallelism, or the context is longer than the model's. The run uses it as it stands; whether that is meant, only its author knows.";
    ScenarioUnservable "scenario::unservable" Warning "Requests can never be served."
        "From lengths and limits alone it follows that the engine refuses requests, or that the run ends with some of them waiting. The message says what they need and what there is; the job would lose them, or fail.";
    ScenarioUnresolved "scenario::unresolved" Error "A worker asks for what no pin says."
        "Timing `default` means the pinned table of the worker's model, hardware, engine and parallelism; timing `roofline` and a capacity of type `default` are computed from the model and hardware pins. What they need is not pinned, or does not exist: the help says which table to pin, how to make one, or what to state instead.";
    ScenarioDigestMissing "scenario::digest_missing" Error "A pin has no digest."
        "A scenario repeats the digest of each pin, so that a changed pin is noticed where it is used. `bench pin FILE` fills in missing ones.";
    ScenarioDigestMismatch "scenario::digest_mismatch" Error "A pin is not what the scenario says."
        "The pin's file and the scenario name different digests (or versions, or checksums). If the pin was changed on purpose, `bench pin FILE --update NAME` accepts the new one; every job that uses it has a new key then.";
    ScenarioAxis "scenario::axis" Error "The values of an axis are wrong."
        "An axis lists its values, each once, or gives `from`, `to` and `step`.";
    ScenarioTogether "scenario::together" Error "Axes that move in step have different lengths."
        "In `together` the n-th values of all axes make one combination, so each axis has as many values as the others.";
    ScenarioVaryPath "scenario::vary_path" Error "The path of an axis names nothing."
        "A path begins in the deployment, or with `workload.` in the workload; it goes on with the names of nodes (a role after `worker`) and ends with a property, or with a node for its first argument. See docs/scenario.md.";
    ScenarioVaryValue "scenario::vary_value" Error "The value of an axis is impossible."
        "Every value is put in its place and the result is checked as if the file had stated it. The message is that check's; the label shows the value.";
    ScenarioExclude "scenario::exclude" Error "`exclude` names no combination."
        "It names axes by their path, or by the short name that job ids show, and one value of each. `workload`, `deployment` and `engine` are axes too.";
    ScenarioIdleExclude "scenario::idle_exclude" Warning "An `exclude` drops nothing."
        "No combination has all of its values.";
    ScenarioEmptyPlan "scenario::empty_plan" Error "The scenario plans no job."
        "It has no `simulate` and no `replay`, or `exclude` drops every combination. A gate over nothing would always be green.";
    ScenarioPlanLimit "scenario::plan_limit" Error "The scenario plans too many jobs."
        "The product of workloads, deployments, engines and axes exceeds `limit`. Shorten an axis, or raise the limit on purpose.";
    ScenarioGoldenPath "scenario::golden_path" Error "A golden lies elsewhere than below `pins/goldens`."
        "`bench accept` writes the file that the scenario names. It may be any file below `pins/goldens` of the project, and no other.";
    ScenarioTraceTooShort "scenario::trace_too_short" Error "A workload asks for more requests than its trace holds."
        "`stop requests=N` takes the first N rows of the trace, and there are fewer. A run of fewer requests than the file says would be mistaken for the one that was asked for. Ask for fewer, or leave the count out: then all rows run.";
    ReplayEndpoint "replay::endpoint" Error "A replay's endpoint cannot be reached as it is written."
        "An endpoint is `http://` or `https://` with a host, a port where it is not the usual one, and the path that the API's `/v1` lies below; a Unix socket, `unix:/path`; or `mock`, the server in `bench` itself. A proxy is `http://host:port`. Neither holds a user or a password. A key comes from an environment variable whose name the scenario states: never write the key.";
    ReplayClient "replay::client" Error "The client of a replay cannot be had."
        "The environment has no key in the variable that the scenario names, or a file of certificates is missing or damaged: `ca`, `client-cert`, `client-key`, or the one that `SSL_CERT_FILE` names. Nothing was sent. No message holds a key.";
    ReplayHeader "replay::header" Error "A header cannot be stated."
        "Names are tokens of RFC 9110, values printable ASCII. `Authorization`, `Proxy-Authorization`, `api-key`, `x-api-key` and `Cookie` would put a secret into a file that is reviewed and reported, and headers of the connection and of the body are written by the client.";
    ReplayExtra "replay::extra" Error "An extra field is no JSON."
        "`extra NAME JSON` puts a field into the body of every request as it is written, so its value has to be JSON: numbers and lists as text, texts in quotes of their own.";
    ReplayRecording "replay::recording" Error "A replay has no recorded sessions to send."
        "A replay sends the sessions of a `trace` in the format `dynamo` or `weka`, or a `graph` that somebody wrote, under `load \"recorded\"`: calls that wait for one another. Synthetic loads and traces whose rows stand alone are simulated, not sent.";
    ReplayWire "replay::wire" Error "A wire plan cannot be shown or written."
        "`bench plan FILE --wire` shows what the `replay` jobs of a scenario send, and `--wire-dir DIR` writes their bodies to a folder that is not there yet: whole, or not at all.";
    ReplaySelection "replay::selection" Error "No trace is left to replay."
        "Traces that grow longer than `select max-context-tokens=` are left out before the first `entries` are taken. Here that leaves none, and a run of nothing would always be green.";
    ReplayWrap "replay::wrap" Error "There are more lanes than traces."
        "Two lanes would send the same trace at the same time: the second finds what the first left in the cache, and the run measures clones. Use fewer lanes, allow it with `select wrap=#true`, or keep the prompts of clones apart with `select cache-bust=\"first-turn\"`.";
    ReplayTimes "replay::times" Error "The recording does not say when its traces began."
        "An open loop starts each trace when the recording says. Weka traces count from their own start, so they have no times of one another.";
    ReplayBody "replay::body" Error "A recorded call cannot be sent to this API."
        "`completions` takes one text, `responses` writes calls of tools in another form than `chat`, every request names a model, and a marker that busts caches needs a text to stand before. The message says which call it is and why.";
    ReplayGraph "replay::graph" Error "A replay cannot send a graph with these settings."
        "A call that holds the answer of an earlier one cannot be sent by a lane that begins behind that one (`snapshot`), and of calls that begin a session side by side none is the first that opens it (`session-routing \"dynamo-nvext\" contract=\"open\"`). The message says which call it is.";
}

pub(super) use scenarios;
