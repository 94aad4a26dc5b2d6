//! Pins.

use crate::diag::declare::area;

area! {
    ($) pins;

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
}

pub(super) use pins;
