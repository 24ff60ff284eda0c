//! Reports of errors: the message with its causes, the lines of the text it is in, and how to mend it.

use std::error::Error;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Message, Origin, Renderer, Snippet};

use crate::excerpt::Excerpt;
use crate::fault::{Fault, FaultKind, FaultWithExcerpt, Faults};
use crate::load::LoadError;
use crate::printable::one_line;

/// Error with what a report shows beside its message.
pub trait Diagnostic: Error {
    /// Returns the stable name of the kind of error, `None` for an error that only introduces its
    /// [related](Self::related) errors.
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

/// Renders the report of `error` and of its related errors as text that ends with a line break, `coloured` with the
/// codes of terminals.
pub fn render(error: &dyn Diagnostic, coloured: bool) -> String {
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let mut report = String::new();
    append_report(error, &renderer, &mut report);
    report
}

/// Appends the reports of `error` and of its related errors to `report`, with an empty line between them. A report has
/// the message with the code (if the error has one), the lines around the error, its causes as notes and its help.
/// Control characters are escaped. Related errors follow, depth first.
fn append_report(error: &dyn Diagnostic, renderer: &Renderer, report: &mut String) {
    if !report.is_empty() {
        report.push('\n');
    }
    let mut title = Level::ERROR.primary_title(one_line(&error.to_string()).into_owned());
    if let Some(code) = error.code() {
        title = title.id(code);
    }
    let excerpt_parts = error.excerpt().map(|(excerpt, labels)| excerpt_elements(excerpt, &labels)).unwrap_or_default();
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    let causes = causes.map(|cause| footer_message(Level::NOTE, &cause.to_string()));
    let help = error.help().map(|help| footer_message(Level::HELP, &help));
    let group: Group<'_> = title.elements(excerpt_parts).elements(causes).elements(help);
    report.push_str(&renderer.render(&[group]));
    report.push('\n');
    error.related().iter().for_each(|error| append_report(*error, renderer, report));
}

/// Returns a message with `text`, which the report shows below the lines of the excerpt.
fn footer_message(level: Level<'static>, text: &str) -> Message<'static> {
    level.message(one_line(text).into_owned())
}

/// Returns one element for each run of consecutive lines of `excerpt`, with its spans marked: the first span of the
/// excerpt as primary, the others as context. `labels` has the text of each span. The renderer computes line and column
/// of the first span from the excerpt. If the line of this span is cut, that column would be wrong. The place in the
/// whole text is then an element of its own ahead of the lines, and the lines have no path. Returns nothing without
/// spans.
fn excerpt_elements<'a>(excerpt: &'a Excerpt, labels: &[String]) -> Vec<Element<'a>> {
    let spans: Vec<_> = excerpt.spans().zip(labels).collect();
    let Some((first_span, _)) = spans.first() else { return Vec::new() };
    let (line_index, line_start) = excerpt.lines[excerpt.line_index_at(first_span.start)];
    let column = excerpt.column_at(first_span.start);
    // A cut line has another number of characters before the span than the whole line.
    let is_cut = excerpt.text[line_start..first_span.start].chars().count() != column;
    let origin = Origin::path(excerpt.name.as_str()).line(line_index + 1).char_column(column + 1);
    let mut elements: Vec<Element<'a>> = is_cut.then(|| origin.into()).into_iter().collect();
    for line_run in excerpt.lines.chunk_by(|(line_index, _), (next_index, _)| line_index + 1 == *next_index) {
        let (Some(&(first_line, run_start)), Some(&(_, last_line_start))) = (line_run.first(), line_run.last()) else {
            continue;
        };
        // Byte behind the last line of the run.
        let run_end = excerpt.text[last_line_start..]
            .find('\n')
            .map_or(excerpt.text.len(), |length| last_line_start + length + 1);
        // Spans that start in this run; an empty run has one position.
        let run_spans = spans
            .iter()
            .enumerate()
            .filter(|(_, (span, _))| (run_start..run_end.max(run_start + 1)).contains(&span.start));
        let annotations = run_spans.map(|(index, (span, label))| {
            let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            kind.span(span.start - run_start..span.end - run_start).label(one_line(label).into_owned())
        });
        let snippet = Snippet::source(&excerpt.text[run_start..run_end]).line_start(first_line + 1).fold(false);
        let path = (!is_cut).then_some(excerpt.name.as_str());
        elements.push(snippet.path(path).annotations(annotations).into());
    }
    elements
}

impl Faults {
    /// Renders the whole report with the lines of the file around each fault, without colour.
    pub fn render(&self) -> String {
        render(self, false) // without colour
    }
}

impl Diagnostic for Faults {
    fn code(&self) -> Option<&str> {
        None
    }

    fn related(&self) -> Vec<&dyn Diagnostic> {
        let own_reports = self.shown_faults().iter().map(|shown| shown as &dyn Diagnostic);
        own_reports.chain(self.files().iter().map(|faults| faults as &dyn Diagnostic)).collect()
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
        Some((&self.excerpt, vec![fault_label(&self.fault), "compare".to_owned()]))
    }
}

/// Returns the text beside the place of a fault in the excerpt: "here" for a syntax fault, "required here" for a
/// missing key, otherwise the accepted values.
fn fault_label(fault: &Fault) -> String {
    match fault.kind {
        FaultKind::Syntax => "here".to_owned(),
        FaultKind::MissingKey => "required here".to_owned(),
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
