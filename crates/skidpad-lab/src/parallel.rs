//! Distribution of jobs to threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `run_job` for the jobs `0..count` and returns the results in the order of the jobs. Each thread takes the next
/// free job until none is left. There are at most as many threads as the machine has cores, and as there are jobs. This
/// limits the memory, because each run keeps its telemetry until it is measured. A panic of a job is passed on.
pub(crate) fn run_in_parallel<T: Send>(count: usize, run_job: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let thread_count = std::thread::available_parallelism().map_or(1, usize::from).min(count);
    let next_job = AtomicUsize::new(0);
    // Jobs of one thread, with their numbers.
    let run_jobs = || {
        // Number of the next free job; `None` after the last.
        let take_job = || Some(next_job.fetch_add(1, Ordering::Relaxed)).filter(|&job| job < count);
        std::iter::from_fn(take_job).map(|job| (job, run_job(job))).collect::<Vec<_>>()
    };
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..thread_count).map(|_| scope.spawn(run_jobs)).collect();
        // Results of a thread, or its panic.
        let join_thread = |thread: std::thread::ScopedJoinHandle<'_, Vec<(usize, T)>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().flat_map(join_thread).collect()
    });
    results.sort_by_key(|(job, _)| *job);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        assert_eq!(run_in_parallel(100, &|job| job * job), (0..100).map(|job| job * job).collect::<Vec<_>>());
        assert!(run_in_parallel(0, &|job| job).is_empty());
    }
}
