//! Trace files.

use crate::diag::declare::area;

area! {
    ($) traces;

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
    TraceBasis "trace::basis" Warning "A part of a Weka corpus is read otherwise than in the whole."
        "Times below sub-agents count from their markers as soon as one trace of a corpus shows it. A part without such a trace shows nothing, so its pin has to say it: `nested-timestamp-basis \"relative\"`.";
    TraceTimeScale "trace::time_scale" Warning "The span of a trace's arrivals hints at a wrong unit."
        "All rows arrive within a second, or over more than seven days. Most such traces are read with the wrong `timestamps unit=`.";
}

pub(super) use traces;
