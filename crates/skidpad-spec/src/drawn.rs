//! Faults as miette draws them: into the text of their file.

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode,
    SourceSpan, SpanContents,
};
use std::fmt::Display;
use std::ops::Range;

use crate::excerpt::Excerpt;
use crate::fault::{Fault, FaultKind, Faults, Shown};
use crate::printable::one_line;

impl Faults {
    /// Draws the whole report into the text of the file, without colour.
    pub fn render(&self) -> String {
        let theme = GraphicalTheme::unicode_nocolor();
        let handler = GraphicalReportHandler::new_themed(theme).with_width(110).with_links(false);
        let mut report = String::new();
        // Writing to a string cannot fail; faults that cannot be drawn still show as a list.
        match handler.render_report(&mut report, self) {
            Ok(()) => report,
            Err(_) => self.listed(),
        }
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        if end > self.text.len() || self.lines.is_empty() {
            return Err(MietteError::OutOfBounds);
        }
        let (first, last) = (self.index(start), self.index(end));
        let follows = |index: usize| index > 0 && self.lines[index].0 == self.lines[index - 1].0 + 1;
        // Lines between two faults that are far apart are not there.
        if !(first + 1..=last).all(follows) {
            return Err(MietteError::OutOfBounds);
        }
        let from = (0..before).fold(first, |index, _| if follows(index) { index - 1 } else { index });
        let next = |index: usize| index + 1 < self.lines.len() && follows(index + 1);
        let to = (0..after).fold(last, |index, _| if next(index) { index + 1 } else { index });
        let whole_end = self.lines.get(to + 1).map_or(self.text.len(), |(_, start)| *start);
        let (shown, column) = match before {
            0 => (start..end.max(start), self.column(start)),
            _ => (self.lines[from].1..whole_end.max(self.lines[from].1), 0),
        };
        let data = self.text.get(shown.clone()).ok_or(MietteError::OutOfBounds)?.as_bytes();
        let (span, line) = (SourceSpan::from((shown.start, shown.len())), self.lines[from].0);
        let name = self.name.clone();
        Ok(Box::new(MietteSpanContents::new_named(name, data, span, line, column, to - from + 1)))
    }
}

/// Returns what a fault points at: its own place, and that of the value it contradicts.
fn labels(fault: &Fault, span: Range<usize>, against: Option<Range<usize>>) -> impl Iterator<Item = LabeledSpan> {
    let label = match fault.kind {
        FaultKind::Syntax => "here",
        FaultKind::MissingKey => "needed in here",
        _ => &*one_line(&fault.accepts),
    };
    let label = LabeledSpan::new(Some(label.into()), span.start, span.len());
    let against = against.map(|span| LabeledSpan::new(Some("compare".into()), span.start, span.len()));
    std::iter::once(label).chain(against)
}

impl Diagnostic for Fault {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new(self.kind.code()))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(one_line(help)) as Box<dyn Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(labels(self, self.span.clone(), self.against.clone())))
    }
}

impl Diagnostic for Shown {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.fault.code()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.fault.help()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let mut spans = self.excerpt.spans();
        let (span, against) = (spans.next()?, spans.next());
        Some(Box::new(labels(&self.fault, span, against)))
    }
}

impl Diagnostic for Faults {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        let own = self.shown().iter().map(|shown| shown as &dyn Diagnostic);
        Some(Box::new(own.chain(self.files().iter().map(|faults| faults as &dyn Diagnostic))))
    }
}
