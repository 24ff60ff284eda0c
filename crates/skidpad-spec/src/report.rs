//! Reports of errors: the message with its causes, the lines of the text it is in, and how to mend it.

use std::error::Error;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Message, Origin, Renderer, Snippet};

use crate::excerpt::Excerpt;
use crate::fault::{Fault, FaultKind, FaultWithExcerpt, Faults};
use crate::load::LoadError;
use crate::printable::one_line;

/// Error with what a report shows beside its message.
pub trait Diagnostic: Error {
    /// Returns the stable name of the kind of error, `None` for an error that only introduces its [related](Self::related) errors.
    fn code(&self) -> Option<&str>;

    /// Returns how to mend the error.
    fn help(&self) -> Option<String> {
        None
    }

    /// Returns the lines around the error and the label of each span of the excerpt.
    fn excerpt(&self) -> Option<(&Excerpt, Vec<String>)> {
        None
    }

    /// Returns the errors that this one introduces, in the order in which the report shows them.
    fn related(&self) -> Vec<&dyn Diagnostic> {
        Vec::new()
    }
}

/// Renders the report of `error` and of its related errors as text that ends with a line break, `coloured` with the codes of terminals.
pub fn render(error: &dyn Diagnostic, coloured: bool) -> String {
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let mut report = String::new();
    append(error, &renderer, &mut report);
    report
}

/// Appends the reports of `error` and of its related errors to `report`, with an empty line between them. A report has
/// the message with the code, the lines around the error, its causes and its help. Related errors follow, depth first.
fn append(error: &dyn Diagnostic, renderer: &Renderer, report: &mut String) {
    if !report.is_empty() {
        report.push('\n');
    }
    let mut title = Level::ERROR.primary_title(one_line(&error.to_string()).into_owned());
    if let Some(code) = error.code() {
        title = title.id(code);
    }
    let places = error.excerpt().map(|(excerpt, labels)| elements(excerpt, &labels)).unwrap_or_default();
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    let causes = causes.map(|cause| note(Level::NOTE, &cause.to_string()));
    let help = error.help().map(|help| note(Level::HELP, &help));
    let group: Group<'_> = title.elements(places).elements(causes).elements(help);
    report.push_str(&renderer.render(&[group]));
    report.push('\n');
    error.related().iter().for_each(|error| append(*error, renderer, report));
}

/// Returns `text` below the lines of a report.
fn note(level: Level<'static>, text: &str) -> Message<'static> {
    level.message(one_line(text).into_owned())
}

/// Returns a part of the report for each run of consecutive lines of `excerpt`, with its spans marked: the first as
/// primary, the others as context. `labels` has the text of each span. The renderer counts the columns of the place;
/// where the line of the first span is cut, the place comes before the lines instead. Empty without spans.
fn elements<'a>(excerpt: &'a Excerpt, labels: &[String]) -> Vec<Element<'a>> {
    let spans: Vec<_> = excerpt.spans().zip(labels).collect();
    let Some((first, _)) = spans.first() else { return Vec::new() };
    let (line, line_start) = excerpt.lines[excerpt.line_index_at(first.start)];
    let column = excerpt.column_at(first.start);
    // A cut line has another number of characters before the span than the whole line.
    let is_cut = excerpt.text[line_start..first.start].chars().count() != column;
    let place = Origin::path(excerpt.name.as_str()).line(line + 1).char_column(column + 1);
    let mut elements: Vec<Element<'a>> = is_cut.then(|| place.into()).into_iter().collect();
    for run in excerpt.lines.chunk_by(|(line, _), (next, _)| line + 1 == *next) {
        let (Some(&(number, start)), Some(&(_, last))) = (run.first(), run.last()) else { continue };
        let end = excerpt.text[last..].find('\n').map_or(excerpt.text.len(), |length| last + length + 1);
        let inside =
            spans.iter().enumerate().filter(|(_, (span, _))| (start..end.max(start + 1)).contains(&span.start));
        let annotations = inside.map(|(index, (span, label))| {
            let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            kind.span(span.start - start..span.end - start).label(one_line(label).into_owned())
        });
        let lines = Snippet::source(&excerpt.text[start..end]).line_start(number + 1).fold(false);
        let path = (!is_cut).then_some(excerpt.name.as_str());
        elements.push(lines.path(path).annotations(annotations).into());
    }
    elements
}

impl Faults {
    /// Renders the whole report with the lines of the file around each fault, without colour.
    pub fn render(&self) -> String {
        render(self, false)
    }
}

impl Diagnostic for Faults {
    fn code(&self) -> Option<&str> {
        None
    }

    fn related(&self) -> Vec<&dyn Diagnostic> {
        let own = self.shown_faults().iter().map(|shown| shown as &dyn Diagnostic);
        own.chain(self.files().iter().map(|faults| faults as &dyn Diagnostic)).collect()
    }
}

impl Diagnostic for FaultWithExcerpt {
    fn code(&self) -> Option<&str> {
        Some(self.fault.kind.code())
    }

    fn help(&self) -> Option<String> {
        self.fault.help.clone()
    }

    fn excerpt(&self) -> Option<(&Excerpt, Vec<String>)> {
        Some((&self.excerpt, vec![label(&self.fault), "compare".to_owned()]))
    }
}

/// Returns the text beside the place of a fault: "here" for a syntax fault, "needed in here" for a missing key, otherwise
/// the accepted values.
fn label(fault: &Fault) -> String {
    match fault.kind {
        FaultKind::Syntax => "here".to_owned(),
        FaultKind::MissingKey => "needed in here".to_owned(),
        _ => fault.accepts.clone(),
    }
}

impl Diagnostic for LoadError {
    fn code(&self) -> Option<&str> {
        match self {
            LoadError::UnknownVehicle { .. } => Some("unknown_vehicle"),
            LoadError::UnreadableFile { .. } => Some("unreadable_file"),
            LoadError::Faults(faults) => faults.code(),
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            LoadError::UnknownVehicle { help, .. } => Some(help.clone()),
            LoadError::UnreadableFile { .. } | LoadError::Faults(_) => None,
        }
    }

    fn related(&self) -> Vec<&dyn Diagnostic> {
        match self {
            LoadError::Faults(faults) => faults.related(),
            LoadError::UnknownVehicle { .. } | LoadError::UnreadableFile { .. } => Vec::new(),
        }
    }
}
