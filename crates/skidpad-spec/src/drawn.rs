//! Faults as miette draws them: into the text of their file.

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode,
    SourceSpan, SpanContents,
};
use std::fmt::Display;

use crate::fault::{Fault, FaultKind, Faults, MOST_SHOWN};

impl Faults {
    /// The whole report as text, without colour, drawn into the text of the file.
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

impl SourceCode for Faults {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.text.read_span(span, before, after)?;
        let (line, column, lines) = (found.line(), found.column(), found.line_count());
        let name = self.source_name().to_owned();
        Ok(Box::new(MietteSpanContents::new_named(name, found.data(), *found.span(), line, column, lines)))
    }
}

impl Diagnostic for Fault {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new(self.kind.code()))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = match self.kind {
            FaultKind::Syntax => "here",
            FaultKind::MissingKey => "needed in here",
            _ => &self.accepts,
        };
        let label = LabeledSpan::new(Some(label.into()), self.span.start, self.span.len());
        let against = self.against.clone().map(|span| LabeledSpan::new(Some("compare".into()), span.start, span.len()));
        Some(Box::new(std::iter::once(label).chain(against)))
    }
}

impl Diagnostic for Faults {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        let own = self.list().iter().take(MOST_SHOWN).map(|fault| fault as &dyn Diagnostic);
        Some(Box::new(own.chain(self.files().iter().map(|faults| faults as &dyn Diagnostic))))
    }
}
