//! Threads that step a fleet.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Largest number of threads of a fleet.
pub const MAX_THREADS: usize = 1024;

/// Threads of a fleet. One thread means the thread of the caller.
#[derive(Debug)]
pub struct Threads {
    /// Number of threads, at least 1.
    count: usize,
    /// Pool of the threads; `None` for one thread.
    pool: Option<Mutex<ProcessPool>>,
}

/// Pool with the process that started its threads.
#[derive(Debug)]
struct ProcessPool {
    process_id: u32,
    pool: Arc<ThreadPool>,
}

impl Threads {
    /// Creates `count` threads; 0 stands for the number of processors that this process may use.
    ///
    /// # Errors
    /// Returns a text for more than [`MAX_THREADS`], and the reason of the operating system if it starts no threads.
    pub fn new(count: usize) -> Result<Self, String> {
        if count > MAX_THREADS {
            return Err(format!("threads is {count}, expected 0 (all processors) to {MAX_THREADS}"));
        }
        let available = || std::thread::available_parallelism().map_or(1, usize::from);
        let count = if count == 0 { available() } else { count };
        let pool = if count == 1 { None } else { Some(Mutex::new(ProcessPool::new(count)?)) };
        Ok(Self { count, pool })
    }

    /// Returns the number of threads.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Runs `work` on the pool and returns its result; parallel iterators in `work` then use the threads of the pool.
    /// A pool of one thread runs `work` on the thread of the caller.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self.pool_of_process() {
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
        match self.pool_of_process() {
            Some(pool) => Ok(pool.install(work)),
            None => Ok(new_pool(1)?.install(work)),
        }
    }

    /// Returns the pool of this process; `None` for one thread, or if the operating system starts no threads.
    ///
    /// A fork copies the pool but not its threads, so that work for it would wait forever. In a forked process the
    /// first call therefore starts new threads.
    fn pool_of_process(&self) -> Option<Arc<ThreadPool>> {
        let mut present = self.pool.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        if present.process_id != std::process::id() {
            let copied = std::mem::replace(&mut *present, ProcessPool::new(self.count).ok()?);
            // Dropping the copied pool would wake threads that do not exist.
            std::mem::forget(copied);
        }
        Some(present.pool.clone())
    }
}

impl ProcessPool {
    /// Creates a pool of `count` threads of this process.
    fn new(count: usize) -> Result<Self, String> {
        Ok(Self { process_id: std::process::id(), pool: Arc::new(new_pool(count)?) })
    }
}

/// Creates a pool of `count` threads.
fn new_pool(count: usize) -> Result<ThreadPool, String> {
    let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(|number| format!("skidpad {number}")).build();
    pool.map_err(|error| format!("cannot start {count} threads: {error}"))
}
