//! Every diagnostic code once, with its severity and its explanation. Codes are API: never renamed.

use super::Severity;
use super::declare::codes;

codes! {
    // Command line.
    Output "cli::output" Error "The results cannot be written."
        "Results go to stdout. The stream it leads to refused them: a full disk, a closed file, a missing permission. A reader that goes away early is no error.";
    UnknownCommand "cli::unknown_command" Error "No command has this name."
        "`bench --help` lists the commands, `bench man NAME` describes one of them.";
    UnknownCode "cli::unknown_code" Error "No diagnostic has this code."
        "Codes are printed with every finding, as `area::name`. All of them are in docs/diagnostics.md.";

    // Files in KDL: scenarios, pins, goldens.
    KdlSyntax "kdl::syntax" Error "The file is not KDL 2."
        "The text does not parse as KDL 2.0. The label points at the first place of a line that does not fit; mend it and run again.";
    KdlVersion1 "kdl::version_1" Error "The file is KDL 1."
        "KDL 2 writes keywords with `#` (`#true`, `#null`) and raw strings as `#\"…\"#`; KDL 1 wrote `true`, `null` and `r\"…\"`. Touchstone reads KDL 2 only, because the two give one text two meanings. Rewrite the places shown.";
    KdlUnquoted "kdl::unquoted" Error "A version, digest or text needs quotes."
        "A bare word may not begin with a digit, so `0.13.0` and most digests are no words in KDL. Put the value in quotes; a digest may also be written `sha256:<64 hex>` without them.";
    KdlTooDeep "kdl::too_deep" Error "Blocks are nested too deeply."
        "No file of this language needs more than a few levels of `{ … }`. A file with dozens is damaged or hostile, and is refused before it is parsed.";
    KdlTypeAnnotation "kdl::type_annotation" Error "A type annotation means nothing here."
        "KDL allows `(u8)1`. The types of this language are fixed by its table of nodes, so an annotation could only contradict it. Remove it.";
    KdlUnformattable "kdl::unformattable" Error "The file cannot be formatted without changing it."
        "The formatter changes white space and `;` only, and proves it for every file: same text otherwise, same document, nothing left to change. For this file one of the proofs fails, so it was left as it is. Comments inside of values are the usual reason.";
    KdlWrite "kdl::write" Error "A file cannot be written."
        "`bench fmt` and `bench pin` write a new file beside the old one and put it in its place. The message says what the system answered.";
    KdlUnknownNode "kdl::unknown_node" Error "No node of this name exists here."
        "The name may be misspelt, belong into another block, or come from a newer version of `bench`; the help says which is likely. All nodes are in docs/scenario.md.";
    KdlMisplacedNode "kdl::misplaced_node" Error "The node belongs into another block."
        "The node exists, but not in this block. Move it to where the help says.";
    KdlUnknownProperty "kdl::unknown_property" Error "The node has no property of this name."
        "The name may be misspelt, belong to another kind of the same node, or be a node of its own; the help says which is likely.";
    KdlUnknownValue "kdl::unknown_value" Error "The word is none of those allowed here."
        "Some values are one of a few words. The help lists them.";
    KdlDuplicateProperty "kdl::duplicate_property" Error "A property is given twice."
        "KDL lets the last one win in silence. Two values for one property are a mistake in a file that is reviewed, so both places are shown; keep one.";
    KdlDuplicateNode "kdl::duplicate_node" Error "A node that stands once is given twice."
        "The block may hold one node of this name. Both places are shown; merge them or keep one.";
    KdlDuplicateName "kdl::duplicate_name" Error "Two nodes of one kind share a name."
        "References are by name, so a name stands for one thing. Both places are shown; rename one.";
    KdlMissingArgument "kdl::missing_argument" Error "The node lacks an argument."
        "The node needs a value after its name. The help shows its form.";
    KdlSurplusArgument "kdl::surplus_argument" Error "The node has too many arguments."
        "A value is left over that the node has no meaning for. The help shows its form; values with a name are written `name=value`.";
    KdlMissingProperty "kdl::missing_property" Error "The node lacks a property."
        "The property has no default, because no default could be right for everyone.";
    KdlMissingNode "kdl::missing_node" Error "The block lacks a node."
        "The node has no default, because no default could be right for everyone.";
    KdlWrongType "kdl::wrong_type" Error "The value has the wrong type."
        "KDL has strings, numbers, `#true`, `#false` and `#null`. The message says which was found and which is needed.";
    KdlNotWhole "kdl::not_whole" Error "A count is not a whole number."
        "Tokens, requests, replicas and the like are counted. Write a whole number without a decimal point or exponent.";
    KdlOutOfRange "kdl::out_of_range" Error "A number is out of range."
        "The message says what the least or the greatest value is.";
    KdlNotFinite "kdl::not_finite" Error "A number is not finite."
        "`#inf`, `#-inf`, `#nan`, and decimals beyond the range of a 64-bit float such as `1e400` (which KDL reads as infinity) are refused: no result could be computed from them. Where nothing should be limited, leave the property out.";
    KdlUnderflow "kdl::underflow" Error "A number is too small to be held."
        "The decimal is not zero but a 64-bit float would read it as zero. Write `0`, or a number above 1e-300.";
    KdlBareVersion "kdl::bare_version" Error "A version is written as a number."
        "KDL reads `1.10` as the number 1.1, so a version written without quotes loses its zeros. Write it in quotes.";
    KdlDuration "kdl::duration" Error "A duration has no unit, or an unknown one."
        "Durations are strings of a number and a unit: `\"250ms\"`, `\"60s\"`, `\"5m\"`, `\"1h\"`.";
    KdlDigest "kdl::digest" Error "A digest is not 64 hexadecimal digits."
        "A SHA-256 digest is written `\"<64 hex>\"` or, as a bare word, `sha256:<64 hex>`, in lower case. `bench pin FILE` fills in missing ones.";
    KdlName "kdl::name" Error "A name holds a character that it may not."
        "Names become parts of job ids and file names. They begin with a letter or digit and go on with letters, digits, `.`, `_` and `-`.";

    // Pins.
    PinRoot "pin::root" Error "The folder is no project root."
        "A project root holds `pins/`. It is the nearest such folder above a scenario, or what `--root` says.";
    PinUnknown "pin::unknown" Error "No pin has this name."
        "Each pin is a file, `pins/traces/NAME.kdl` and the like. `bench pins list` lists them.";
    PinRead "pin::read" Error "A pin's file cannot be read."
        "The file or folder exists and may not be read, or is no UTF-8.";
    PinName "pin::name" Error "A pin is called otherwise than its file."
        "Scenarios find a pin by its file. One name in both places leaves no doubt which is meant.";
    PinField "pin::field" Error "The fields of a pin do not fit together."
        "Each field alone is well formed, and together they say nothing or contradict each other. The label and the help say how.";
    PinIncomplete "pin::incomplete" Error "A pin does not describe the files beside it."
        "Size and digest of every file, and for a trace the number of requests, are part of the pin. Write the pin without them once and let `bench pin PINFILE` fill them in.";
    PinAuditRules "pin::audit_rules" Error "The rules of an audit do not fit."
        "Rules name an engine that is pinned below `pins/engines`, the version that every place of another repository must state, and the places. A rule about Cargo's files needs `crate NAME`, one about Python's `distribution NAME`; paths stay inside the repository.";
    PinAuditFile "pin::audit_file" Error "A file that the rules name is missing or cannot be read."
        "A place that is gone cannot agree. Restore the file; or, where the place has moved, mend the rule that the label shows.";
    PinAuditSyntax "pin::audit_syntax" Error "A file that the rules name is no TOML."
        "Manifests and lock files are read as Cargo, pip, uv and Poetry read them. The label points at the first place that does not fit.";
    PinAuditUnstated "pin::audit_unstated" Error "A place states no version."
        "The rules say that the file pins the engine's version. It does not: the dependency is gone, comes from a repository or a path, or the text no longer names it. Restore it, or mend the rule.";
    PinAuditVersion "pin::audit_version" Error "A place states another version."
        "Every place must state the version of the rules, in the spelling that is read there: `0.13.0-dev.87` in Cargo's files, `0.13.0.dev87` in Python's. `bench pins update` moves all of them at once.";
    PinAuditLoose "pin::audit_loose" Error "A place allows other versions."
        "`0.13.0` in a `Cargo.toml` and `>=0.13.0` in a requirement let a resolver take a newer version. A pin is `=VERSION` for Cargo and `==VERSION` for Python.";
    PinAuditChecksum "pin::audit_checksum" Error "A lock file's checksum is not the engine pin's."
        "The engine pin states the checksum of the crate in its registry. A lock file with another one, or with none, builds other bytes under the same version. Find out where they come from before anything is changed.";
    PinAuditStray "pin::audit_stray" Error "A file names another version of the engine."
        "A page, a comment or a lock file that still names an old version misleads whoever reads it next. Bring it up to date; where it is history, allow it in the rules with a reason.";
    PinAuditWrite "pin::audit_write" Error "An update of pins was not made."
        "`bench pins update` changes every place or none: new files are written beside the old ones and put in their place only when all are there and the audit of what they hold is clean.";
    PinForbidden "pin::forbidden" Error "A pin is not changed under `CI`."
        "What is pinned is decided by a person and reviewed. Under `CI` no command writes below `pins/`; a pin that is already right is no error.";
    PinFile "pin::file" Error "A file that a pin names cannot be read."
        "The data lies beside the pin. Restore it.";
    PinSize "pin::size" Error "A pinned file has another size."
        "Size and digest are verified before a byte is unpacked or parsed. Restore the file, or accept the new one with the command in the help and say why in the commit.";
    PinDigest "pin::digest" Error "A pinned file has another digest."
        "Size and digest are verified before a byte is unpacked or parsed. Restore the file, or accept the new one with the command in the help and say why in the commit.";
    TimingExport "pin::export" Error "A timing table could not be made."
        "`bench pins timing export` asks the estimator of an installed AISimulate, through a Python interpreter, and pins what it answers. The interpreter or the package is not there, the estimator has no data for the deployment, or the table would be off by more than 1 % at the median or 3 % at p99 between its points. Nothing was written.";
    PinTable "pin::table" Error "A pinned file holds no table of pass times."
        "A timing pin names one file of the schema `aisim-forward-timing/1`: curves and surfaces whose axes grow, with one finite time a point. `bench pins timing export` writes one.";
    PinContents "pin::contents" Error "A pinned file holds other contents once unpacked."
        "`content-sha256` is the digest of what a packed file holds, so that packing anew is told from other data. Here the data differs.";
    PinRequests "pin::requests" Error "A pinned trace holds another number of requests."
        "The number of rows is counted after the digests are verified. Where they agree, the pin states a wrong number.";

    // Trace files.
    TraceRead "trace::read" Error "A trace file cannot be read."
        "The file does not exist or may not be read. Give its path, or the name of a pin under `pins/traces`.";
    TraceExtension "trace::extension" Error "A trace file's name and contents disagree about gzip."
        "A file whose name ends in `.gz` holds a gzip stream, and no other file does. A stream is known by its first bytes, `1f 8b`. Rename the file, or pack or unpack it.";
    TraceGzip "trace::gzip" Error "A gzip stream is damaged."
        "Every member of the stream is unpacked and its checksum verified before anything is run. A cut end, a checksum that does not fit, and bytes after the last member are all refused; the message says how many rows were readable. Fetch the file again.";
    TraceZstd "trace::zstd" Error "A Zstandard stream is damaged."
        "Every frame of the stream is unpacked and its checksum verified before anything is run. The message says how many lines were readable. Fetch the file again.";
    TraceEncoding "trace::encoding" Error "A trace is not plain UTF-8 text."
        "Traces are UTF-8 without a byte order mark. Save the file so.";
    TraceSyntax "trace::syntax" Error "A line of a trace is no JSON object."
        "Each line of a JSON-lines trace is one object. The label points at the first byte that does not fit. Blank lines are skipped.";
    TraceHeader "trace::header" Error "A CSV trace does not start with its header."
        "The first line of each file of an Azure trace is `TIMESTAMP,ContextTokens,GeneratedTokens`. Other columns mean other units, so they are not guessed.";
    TraceField "trace::field" Error "A field of a trace row is missing, of the wrong type, or stated twice."
        "Counts are whole numbers without fraction or exponent, times are finite and not negative, and a field is stated once, by one of its names. Nothing is rounded or guessed.";
    TraceHashIds "trace::hash_ids" Error "A row's hash ids are no ids, or do not fit its prompt."
        "A hash id is an integer of 64 bits and names one block of the prompt, the last perhaps partly filled: a prompt of n tokens has ceil(n / block size) ids. A wrong count most often means a wrong block size; the help names the one that would fit.";
    TraceBlockSize "trace::block_size" Error "The traces of a recording have different block sizes."
        "Hash ids name blocks of one size in a whole recording: blocks of different sizes cannot be compared. Split the recording by block size.";
    TraceArrival "trace::arrival" Error "A row has no arrival and the load replays arrivals."
        "Under `load \"trace-timestamps\"` each session starts when its first row says. A missing time is not taken for 0.";
    TraceUnsorted "trace::unsorted" Error "A row arrives before a row above it."
        "The order of rows breaks ties, so an unsorted file is most likely a mistake. Sort it, or state `sort=#true` in the pin; rows are then sorted stably by arrival.";
    TraceSession "trace::session" Error "The turns of a session do not fit together."
        "A session's first row starts it and waits for nothing. A later row waits for its `delay`, else for the difference of recorded timestamps, which must not be negative.";
    TraceEmpty "trace::empty" Error "A trace holds no requests."
        "A run needs at least one request. Blank lines and a header are none.";
    TraceConvert "trace::convert" Error "A trace cannot be said in another format."
        "What the other format has no word for is lost only where `--drop FIELD` says so. The message names the field and how many requests state it.";
    TraceStopped "trace::stopped" Error "Reading a trace stopped early because too many rows are wrong."
        "After ten wrong rows the rest is most likely wrong in the same way. Mend these and run again.";
    TraceFormat "trace::format" Error "The format of a recording cannot be told."
        "Weka traces and Dynamo captures are told by their first record. The file holds neither there; say what it is, or look whether it is the right file. Graphs are never guessed.";
    TraceTolerated "trace::tolerated" Warning "Rows of a trace were given a meaning that the file does not state."
        "`predict` reads a trace as DynoSim does, and `lenient=#true` in a pin asks for the same. The message says how many rows and what they were taken for. A scenario refuses such rows.";
    TraceTimeScale "trace::time_scale" Warning "The span of a trace's arrivals hints at a wrong unit."
        "All rows arrive within a second, or over more than seven days. Most such traces are read with the wrong `timestamps unit=`.";

    // Workflow graphs.
    GraphInput "graph::input" Error "A file of graphs is not what its format says."
        "A native file is YAML or JSON, its keys are texts, and each stands once in a mapping. Sessions with forks and spawns stand one a line, as JSON. The message names the line, the session and what is wrong: an unknown key, a reference that leads nowhere, a fork before the last turn, a join that is no later turn.";
    GraphRecords "graph::records" Error "The records of a native file do not make graphs."
        "A native file holds one graph and, behind it, the traces that run it: as `graph` and `traces` of one document, or as documents or lines with `kind`. A trace of a graph without nodes brings `messages`. Source: rules 19 and 20 of the format.";
    GraphField "graph::field" Error "A field of a native graph is unknown, missing or of the wrong kind."
        "Unknown fields are refused, because what they ask for would not happen; the nearest known one is shown. docs/graph.md lists them.";
    GraphVersion "graph::version" Error "A native graph has a version that is not known."
        "Fields mean what the version says. Known is `\"2.0\"`. Source: rule 12 of the format.";
    GraphNodeType "graph::node_type" Error "A node is no call of a model."
        "Nodes are of the type `llm`; tools and manual steps are not run. Write what they take as a delay of an edge. Source: rule 13 of the format.";
    GraphDelay "graph::delay" Error "A delay is negative, not finite or too long."
        "Times of native graphs are numbers of microseconds from 0 on. Source: rule 57 of the format.";
    GraphPrompt "graph::prompt" Error "A prompt reads what need not be there, or cannot be sent."
        "A prompt is messages and `@CHANNEL`. What is read must be there whenever the node is sent, and must be the same in every run: a channel whose writer has not ended, or whose writers run side by side, is refused, and so are a text with several writers, a conversation that is not continued at its start, and blocks of types and media. The message says which.";
    GraphCache "graph::cache" Warning "A node expects more from a cache than its prompt has."
        "`cached` tokens are part of the `input` tokens. A recording that states more counts something else. Source: rule 15 of the format.";
    GraphTree "graph::tree" Error "No graph has this name."
        "A recording holds one graph a session tree, called after its root session. `bench graph FILE` without `--tree` draws all of them.";
    GraphName "graph::name" Error "A name in a graph is taken or means something else."
        "Nodes and channels are found by their names, so each stands once. `START`, `END`, an empty name and names that begin with `_aiperf` mean something else.";
    GraphEdge "graph::edge" Error "An edge leads nowhere."
        "An edge leads from the start or a node to a node or the end, and both ends are in the graph.";
    GraphWait "graph::wait" Error "What an edge waits for contradicts itself."
        "An edge waits for the end of its source, or for its dispatch and perhaps its first token, never for both; the start has neither. A node that waits for a dispatch has that edge alone, because it is scheduled when its source is sent.";
    GraphChannel "graph::channel" Error "A channel is not there, is written by several, or cannot fill."
        "A channel that keeps its last value has one writer, else the order of answers would decide what it holds. A node waits for no more values than nodes write.";
    GraphCycle "graph::cycle" Error "Nodes of a graph wait for one another."
        "None of them could ever start. The message names one cycle.";
    GraphUnreachable "graph::unreachable" Error "A node cannot be reached from the start."
        "Nothing that it waits for ever begins. Add an edge from the start or from a node that can be reached.";

    GraphTokenizer "graph::tokenizer" Error "A file is no tokenizer."
        "The text that stands for recorded blocks is made under a tokenizer, so that n tokens are n tokens. `builtin` is in the program; `file` names the `tokenizer.json` of the served model in the format of Hugging Face.";
    GraphVocabulary "graph::vocabulary" Error "A tokenizer has too few words to make texts of an exact length."
        "Texts are made of words of one length that are one token each, alone and side by side. Tokenizers of bytes or of characters have none; use `builtin`.";
    StoreFile "store::file" Error "A segment store cannot be written or read."
        "A store is a folder that `bench` writes as a whole, beside its place first. The message says what the system answered.";
    StoreDamaged "store::damaged" Error "A segment store is not what it was when it was written."
        "Every file of a store has its length and digest in `store.json`, and that one has its digest in `store.sha256`. One that is cut, altered or missing means that requests would not be those that were planned. Build the store again from its trace.";

    // DynoSim's YAML and `bench predict`.
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
    // Scenarios.
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
        "An endpoint is `http://` or `https://` with a host, a port where it is not the usual one, and the path that the API's `/v1` lies below; a Unix socket, `unix:/path`; or `mock`, the server in `bench` itself. A proxy is `http://host:port`. A key comes from an environment variable whose name the scenario states: never write the key.";
    ReplayClient "replay::client" Error "The client of a replay cannot be had."
        "The environment has no key in the variable that the scenario names, or a file of certificates is missing or damaged: `ca`, `client-cert`, `client-key`, or the one that `SSL_CERT_FILE` names. Nothing was sent. No message holds a key.";
    ReplayHeader "replay::header" Error "A header cannot be stated."
        "Names are tokens of RFC 9110, values printable ASCII. `Authorization` would put a secret into a file that is reviewed and reported, and headers of the connection and of the body are written by the client.";
    ReplayExtra "replay::extra" Error "An extra field is no JSON."
        "`extra NAME JSON` puts a field into the body of every request as it is written, so its value has to be JSON: numbers and lists as text, texts in quotes of their own.";
    ReplayRecording "replay::recording" Error "A replay has no recorded sessions to send."
        "A replay sends the sessions of a `trace` in the format `dynamo` or `weka` under `load \"recorded\"`: calls that wait for one another, with the blocks of their prompts. Synthetic loads and traces whose rows stand alone are simulated, not sent.";
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
    // Running jobs.
    PlanUnsupported "plan::unsupported" Error "This build cannot run a job of the plan."
        "The scenario is sound and plans, but it asks for something that this build does not run. Nothing was run. The message points at the setting and says what to do instead; docs/scenario.md says at each node what is not run.";
    PlanNotRunnable "plan::not_runnable" Warning "This build will refuse to run a job of the plan."
        "`bench plan` and `bench lint` judge the scenario, which is sound; `bench run` refuses the job with the same message and runs nothing.";
    JobFailed "job::failed" Error "A job failed."
        "The run came to an end, or to a stop, without a result that can be used: not one request completed, the engine reached a dead end, or a timing model answered something that is no time. The message says which. Exit code 1.";
    JobBug "job::bug" Error "A job met a bug of this program."
        "A law that every run obeys is broken, or the program panicked. The result cannot be trusted and is not compared. Please report it with the scenario and the message.";
    JobUnknown "job::unknown" Error "The plan has no job of this name."
        "`bench plan FILE` lists the jobs of a scenario.";
    CacheDamaged "cache::damaged" Warning "An entry of the result cache is damaged."
        "The bytes are not those that were stored. The job was run again and the entry replaced. `--no-cache` leaves the cache alone; the folder `runs/.cache` may be deleted at any time.";
    RunUnwritable "run::unwritable" Error "The run folder cannot be written."
        "Jobs ran, and what they left cannot be kept. See whether there is room, and whether the folder `runs` may be written.";
    RunUnreadable "run::unreadable" Error "This is no run folder and no golden."
        "A run folder holds `run.json`; `runs/<scenario>/latest` points at the last one. A golden is a KDL file under `pins/goldens`.";
    RunPartial "run::partial" Error "This is a part of a run, and no run."
        "A partition leaves a folder with some of the plan's jobs. Nothing is compared with it, and no gate judges it: there is no verdict (exit 4). Merge all the parts: `bench merge RUN...` makes the run of them.";

    // Upstream engines.
    EngineSource "engine::source" Error "The runner of an engine has no package to build."
        "A pin of an upstream engine names its package in the registry, and has a `runner` folder beside it with a package and a lock file of its own.";
    EngineLock "engine::lock" Error "A runner would be built from another engine than the pin's."
        "The lock file of the runner names another version or checksum of the engine's package than the pin. What is pinned is what is built, so nothing is. Make them agree: the registry's checksum is the right one.";
    EngineBuild "engine::build" Error "A runner cannot be built."
        "`cargo build --locked` did not come to its end: the message and the lines above say why. A runner needs a Rust toolchain, a C compiler, and the crates of its lock file.";
    EngineAbsent "engine::absent" Error "A runner is not built."
        "`bench engines build` builds it; `bench run` builds what its jobs need.";
    EngineProtocol "engine::protocol" Error "A runner does not keep to the protocol."
        "A runner takes one request, answers it under its job, and ends with the exit code that docs/engines.md states. The case that is named was put to it, and something else came of it.";
    EngineDamaged "engine::damaged" Error "A runner is not the program that was built."
        "Its bytes differ from those that were noted when it was built, or cannot be read. Build it again.";

    // Runs in parts.
    BatchWrong "batch::wrong" Error "This is no batch of jobs."
        "`bench exec-batch` takes one element of `batches` as `bench plan FILE --format nix-json` writes it. The message says what is wrong with the file.";
    BatchInput "batch::input" Error "A file that a batch reads is not the one it was planned with."
        "A batch names every file by path and SHA-256. A file is missing below the root, or has other bytes. Where a pin was changed on purpose, write the plan again: `bench plan FILE --format nix-json`.";
    BatchJob "batch::job" Error "The text of a job in a batch plans another job."
        "A batch holds each job as a scenario of its own, and the key that this scenario must give. It gives another one: the batch was edited, or another version of this program wrote it. Write the plan again.";

    MergeNotPartial "merge::not_partial" Error "This is no partial run."
        "`bench merge` takes the folders that `bench run FILE --partition hash:M/N` leaves, or a folder that holds them. Each has a `partial.json`.";
    MergeNoScenario "merge::no_scenario" Error "The parts do not say which scenario they belong to."
        "Partitions know their scenario, batches do not; and the parts of two scenarios are no run. Name it: `bench merge --scenario FILE RUN...`.";
    MergeOtherPlan "merge::other_plan" Error "A part belongs to another plan."
        "A run is of one plan: the same jobs under the same names and keys. The scenario, a pin or a trace was changed after the part was run, or the part is of another scenario.";
    MergeOtherProgram "merge::other_program" Error "Different programs computed the parts."
        "Results of two builds are not mixed unasked: one of them may be older than a fix. Run the odd part again. Builds for several kinds of machines differ although their sources do not; `--any-program` merges what they computed, and provenance.json names every one.";
    MergeOverlap "merge::overlap" Error "Two parts hold the same job."
        "The parts of a run are disjoint. The same part was given twice, or two ways of dealing the plan out were mixed. The two agree, so either may be left out.";
    MergeDisagreement "merge::disagreement" Error "Two parts disagree about a job."
        "Both hold the job, under the same key, and the results differ. A simulated job is a function of its key, so one of them was damaged, computed by another program, or the simulator is not deterministic. Nothing is merged (exit 3).";
    MergeGap "merge::gap" Error "A part of the run is missing."
        "Some jobs are in none of the parts, or did not come to their end there. The message names the partition and the command that runs it again; merging after that completes the run. Until then there is no verdict (exit 4).";
    MergeDamaged "merge::damaged" Error "A part is not what it says."
        "The files of a job do not have the digests that `partial.json` and the report give them. Nothing is merged; run the part again.";

    // Goldens and gates.
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

impl std::str::FromStr for Code {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text).ok_or(())
    }
}
