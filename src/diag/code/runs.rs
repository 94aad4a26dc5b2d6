//! Running jobs.

use crate::diag::declare::area;

area! {
    ($) runs;

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
}

pub(super) use runs;
