//! Runs that an interrupt of Python (Ctrl-C) stops.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// Time between two checks for an interrupt.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Runs `work` on another thread and returns its result. `work` receives a function that returns `Break` after an
/// interrupt; it has to call the function often, and to end then. This thread checks for interrupts meanwhile, without
/// the lock of the interpreter between the checks. After an interrupt its exception is returned as soon as `work` has
/// ended. Only the main thread of Python receives interrupts. A panic of `work` is passed on.
pub fn run_interruptible<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&(dyn Fn() -> ControlFlow<()> + Sync)) -> R + Send,
) -> PyResult<R> {
    let stop = AtomicBool::new(false);
    let flow = || if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let mut failure: Option<PyErr> = None;
    let outcome = py.detach(|| {
        thread::scope(|scope| {
            // The receiver returns as soon as the sender is dropped, also by a panic.
            let (sender, receiver) = channel::<()>();
            let worker = thread::Builder::new().name("skidpad run".into()).spawn_scoped(scope, || {
                let result = work(&flow);
                drop(sender);
                result
            })?;
            while receiver.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if failure.is_none() {
                    failure = Python::attach(|py| py.check_signals()).err();
                    stop.store(failure.is_some(), Ordering::Relaxed);
                }
            }
            Ok::<_, std::io::Error>(worker.join())
        })
    })?;
    match (failure, outcome) {
        (Some(failure), _) => Err(failure),
        (None, Ok(result)) => Ok(result),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
    }
}
