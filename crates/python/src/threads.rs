//! Threads that step a fleet.

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Threads of a fleet. One thread means the thread of the caller.
#[derive(Debug)]
pub struct Threads {
    /// Pool of the threads; `None` for one thread.
    pool: Option<ThreadPool>,
}

impl Threads {
    /// Creates `count` threads; 0 stands for the number of processors that this process may use.
    ///
    /// # Errors
    /// The reason of the operating system, as text.
    pub fn new(count: usize) -> Result<Self, String> {
        let available = || std::thread::available_parallelism().map_or(1, usize::from);
        let count = if count == 0 { available() } else { count };
        Ok(Self { pool: if count == 1 { None } else { Some(new_pool(count)?) } })
    }

    /// Returns the number of threads.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    /// Runs `work` on the pool and returns its result; parallel iterators in `work` then use the threads of the pool.
    /// A pool of one thread runs `work` on the thread of the caller.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Runs `work`, which creates a fleet. A fleet takes the number of its threads from the pool in which it is
    /// created. Therefore, with one thread, `work` runs in a temporary pool of one thread.
    ///
    /// # Errors
    /// The reason of the operating system, as text.
    pub fn create<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, String> {
        match &self.pool {
            Some(pool) => Ok(pool.install(work)),
            None => Ok(new_pool(1)?.install(work)),
        }
    }
}

/// Creates a pool of `count` threads.
fn new_pool(count: usize) -> Result<ThreadPool, String> {
    let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(|number| format!("skidpad {number}")).build();
    pool.map_err(|error| format!("cannot start {count} threads: {error}"))
}
