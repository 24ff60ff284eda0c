//! Interrupts from the keyboard and requests to terminate.

use std::sync::atomic::{AtomicBool, Ordering};

use skidpad::lab::files::remove_unfinished;

use crate::INTERRUPTED_EXIT_CODE;
use crate::output::print_error;

/// Whether the first interrupt only sets [`IS_REQUESTED`].
static IS_DEFERRED: AtomicBool = AtomicBool::new(false);

/// Whether an interrupt was deferred.
static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

/// Installs the handler: an interrupt removes unfinished files and ends the program with [`INTERRUPTED_EXIT_CODE`].
/// During a [`Deferral`] the first interrupt only prints a message and sets [`IS_REQUESTED`]. If no handler can be set,
/// an interrupt still ends the program but leaves temporary files behind.
pub fn install_handler() {
    _ = ctrlc::set_handler(|| {
        if IS_DEFERRED.load(Ordering::Relaxed) && !IS_REQUESTED.swap(true, Ordering::Relaxed) {
            print_error("stopping after the present runs; press Ctrl-C again to stop at once");
            return;
        }
        remove_unfinished();
        std::process::exit(i32::from(INTERRUPTED_EXIT_CODE));
    });
}

/// Deferral of the first interrupt, until it is dropped. The command checks [`is_requested`] between its runs; a second
/// interrupt ends the program at once.
pub struct Deferral(());

impl Deferral {
    /// Defers the first interrupt.
    pub fn new() -> Self {
        IS_DEFERRED.store(true, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Deferral {
    fn drop(&mut self) {
        IS_DEFERRED.store(false, Ordering::Relaxed);
    }
}

/// Returns whether an interrupt was deferred, so that the command should stop.
pub fn is_requested() -> bool {
    IS_REQUESTED.load(Ordering::Relaxed)
}
