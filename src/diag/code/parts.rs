//! Runs in parts.

use crate::diag::declare::area;

area! {
    ($) parts;

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
}

pub(super) use parts;
