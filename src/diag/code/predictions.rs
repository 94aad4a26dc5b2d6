//! DynoSim's YAML and `bench predict`.

use crate::diag::declare::area;

area! {
    ($) predictions;

    DynosimFile "dynosim::file" Error "The configuration file cannot be read."
        "`bench predict -c FILE` reads one UTF-8 file. The message says what the system answered; paths are relative to the working directory.";
    DynosimYaml "dynosim::yaml" Error "The configuration is not one YAML document."
        "A configuration is one YAML document without foreign tags, whose keys are texts. What a plain word means follows PyYAML: `yes` is a truth value, `1e3` a text. The label points at the first place that does not fit.";
    DynosimJson "dynosim::json" Error "The specification is not one JSON value."
        "A ReplaySpec is one JSON value in which no object holds a key twice. The label points at the first place that does not fit.";
    DynosimDuplicateKey "dynosim::duplicate_key" Error "A key stands twice in one mapping."
        "YAML readers keep one of the two values silently, so which one was meant cannot be known. Keep one.";
    DynosimUnknownField "dynosim::unknown_field" Error "DynoSim's schema has no such field."
        "Unknown keys are errors everywhere: a field that is misspelt would otherwise be ignored. `docs/predict.md` lists every field.";
    DynosimWrongType "dynosim::wrong_type" Error "A value has the wrong type."
        "Types are strict: a whole number is not written `4.0` or `\"4\"`, a truth value is not a text. A real may be written as a whole number.";
    DynosimOutOfRange "dynosim::out_of_range" Error "A value is outside its range."
        "The message states the range. Counts are positive, latencies and bandwidths are finite and not negative, shares lie between 0 and 1.";
    DynosimMissingField "dynosim::missing_field" Error "A required field is missing."
        "The field has no default in this place. The label points at the mapping that lacks it.";
    DynosimConflict "dynosim::conflict" Error "Two statements exclude each other."
        "A field belongs to another kind of source, load, stop, timing, capacity, backend or mode than the one stated. Remove it, or state the kind it belongs to.";
    DynosimUnsupported "dynosim::unsupported" Error "The configuration is valid, but this build cannot run it."
        "The field is DynoSim's and its value is well-formed, but this build has no engine for it. Nothing is ignored silently; `docs/predict.md` lists what is covered.";
    DynosimUnresolved "dynosim::unresolved" Error "The configuration asks for a timing table or a capacity that does not exist."
        "Timing `default` means the table of the model, hardware, backend and parallelism, of the project's pins or of those that `bench` carries; a capacity of type `default` is computed from the model and the hardware. There is none: the help says how to make a table, or what to state instead. DynoSim ends with 1 where it has no timing data, and so does this.";
    DynosimOverride "dynosim::override" Error "A `--set` is not of the form PATH=YAML."
        "`--set a.b.c=VALUE` splits at the first `=`, the path at dots, and reads the value as YAML. List positions, empty parts and the sections `optimization` and `optimizer` are refused, and so is a path through a value that is no mapping.";
    DynosimNoEffect "dynosim::no_effect" Warning "A field is accepted and has no effect here."
        "The field steers DynoSim's process supervisor. `bench predict` runs in one process on one thread and needs no such limit.";
    ImportUnpinned "import::unpinned" Error "The project has no pin of what a configuration names."
        "A scenario names nothing that is not pinned. Write the pin, or say with `--model` or `--hardware` which pin stands for it: where context length, bytes per token and capacity are stated, the model's own figures are not used.";
    ImportUnsayable "import::unsayable" Error "The scenario language has no word for something that a configuration says."
        "Some of what a configuration can say has no node: a role on hardware of its own, a trace of a format that scenarios do not read. `bench predict` runs the configuration as it is.";
    ImportOutput "import::output" Error "The scenario, or the pin of its trace, cannot be written."
        "An existing scenario is replaced with `--overwrite` only. The message says what the system answered.";
    ParityCase "parity::case" Error "A folder or file holds no recorded case."
        "A recorded case is a gzip file of `tests/fixtures/oracle`, a folder with `config.yaml` and `run.json`, or one with `spec.json` and the results of nightlies.";
    PredictStack "predict::stack" Error "The stack is not installed."
        "`--stack` names the program that composes router and planner. This build has one: `engine`.";
    PredictCompat "predict::compat" Error "The reference behaviour is not known."
        "`--compat` names a behaviour of the reference that the native simulator can imitate; the message lists them.";
    PredictUnavailable "predict::unavailable" Error "The option is DynoSim's and this build lacks it."
        "The option asks for an output or a mode that this build does not have. Leave it out; `docs/predict.md` lists what is covered.";
    PredictOutput "predict::output" Error "The output folder cannot be used."
        "A folder that holds anything is only written to with `--overwrite`, which replaces the files that `predict` writes and leaves all others.";
    PredictMemory "predict::memory" Error "The run needs more memory than the configuration allows."
        "`execution.resources.memory_limit_gb` bounds the memory of the process. It is checked when the trace has been read and when the run has ended.";
    PredictRun "predict::run" Error "The simulation cannot finish."
        "The engine reached a state from which no request can go on, for example a sequence that grows beyond the whole KV pool. The message names the time and the reason.";
    PredictUnserved "predict::unserved" Warning "Some requests were not served."
        "The engine refused them by a rule of its own: a prompt that reaches the context length, or a sequence that needs more KV blocks than a rank has. As in DynoSim the run succeeds; latencies and rates describe the requests that completed. The message counts them, names the first and says what it needs.";
    PredictAllRejected "predict::all_rejected" Warning "Every request was rejected."
        "No prompt fits the context length or the KV pool. As in DynoSim the run succeeds with zero completed requests; the numbers describe nothing.";
}

pub(super) use predictions;
