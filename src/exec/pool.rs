//! Jobs side by side, results by index.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::JobError;

/// Runs `job` for each index below `count` on `threads` threads and returns the answers by index.
///
/// The order of completion reaches nobody. A panic of one job is an error of that job alone. Where the system gives no threads,
/// the jobs run one after the other: the answers are the same.
///
/// # Errors
/// None for the whole; each job has its own [`JobError`].
pub fn run_by_index<T: Send>(
    count: usize,
    threads: NonZeroUsize,
    job: impl Fn(usize) -> Result<T, JobError> + Sync,
) -> Vec<Result<T, JobError>> {
    let guarded = |index| guard(|| job(index));
    let one_after_the_other = || (0..count).map(guarded).collect();
    let useful = threads.get().min(count.max(1)); // a thread without a job is a cost without a use
    match rayon::ThreadPoolBuilder::new().num_threads(useful).build() {
        Ok(pool) => {
            pool.install(|| (0..count).into_par_iter().with_max_len(1).map(guarded).collect())
        }
        Err(_) => one_after_the_other(),
    }
}

/// Returns what `job` answers; a panic becomes an error.
///
/// # Errors
/// The job's own, or [`JobError::Panicked`].
pub fn guard<T>(job: impl FnOnce() -> Result<T, JobError>) -> Result<T, JobError> {
    catch_unwind(AssertUnwindSafe(job))
        .unwrap_or_else(|payload| Err(JobError::Panicked { message: panic_text(payload.as_ref()) }))
}

/// Returns what a panic said.
fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_by_index_whatever_the_number_of_threads() {
        for threads in [1, 2, 8, usize::MAX] {
            let threads = NonZeroUsize::new(threads).expect("not zero");
            let answers = run_by_index(100, threads, |index| Ok(index * index));
            let expected: Vec<_> = (0..100).map(|index| Ok(index * index)).collect();
            assert_eq!(answers, expected);
        }
    }

    #[test]
    fn a_panic_is_the_error_of_its_job_alone() {
        let answers = run_by_index(3, NonZeroUsize::MIN, |index| {
            assert!(index != 1, "index {index} is odd");
            Ok(index)
        });
        assert_eq!((&answers[0], &answers[2]), (&Ok(0), &Ok(2)));
        let Err(JobError::Panicked { message }) = &answers[1] else { panic!("{answers:?}") };
        assert!(message.contains("index 1 is odd"), "{message}");
    }
}
