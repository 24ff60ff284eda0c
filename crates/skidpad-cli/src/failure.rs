//! The error type of all commands: any error with a report.

use std::fmt::Display;
use std::io::IsTerminal;

use skidpad::spec::report::{Diagnostic, render};

/// Result of a command or of a part of it.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Reason why a command cannot do its work.
#[derive(Debug)]
pub struct Failure(Box<dyn Diagnostic>);

impl Failure {
    /// Creates the failure of an error without a code and a remedy. The report shows only the message.
    pub fn from_error(error: impl Display) -> Self {
        Self(Box::new(Message(error.to_string())))
    }

    /// Returns the report, with colours if the standard error is a terminal that wants them.
    /// The variable `NO_COLOR` turns colours off (no-color.org).
    pub fn report(&self) -> String {
        let is_colour_declined = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let is_coloured = !is_colour_declined && !is_dumb && std::io::stderr().is_terminal();
        render(self.0.as_ref(), is_coloured).trim_end().to_owned()
    }
}

impl<E: Diagnostic + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

/// Error that is only a message.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Message(String);

impl Diagnostic for Message {
    fn code(&self) -> Option<&str> {
        None
    }
}
