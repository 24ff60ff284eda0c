//! Tables of a page. On narrow screens the style sheet shows each row as a list, in which every cell has the heading of
//! its column beside it.

use std::fmt::Write as _;

use super::escape::escape;

/// Column of an [`HtmlTable`].
#[derive(Clone, Debug)]
pub struct Column {
    /// Heading.
    pub heading: String,
    /// Classes of all cells, separated by spaces; empty for text.
    pub class: &'static str,
}

impl Column {
    /// Creates a column of text.
    pub fn text(heading: &str) -> Self {
        Self { heading: heading.into(), class: "" }
    }

    /// Creates a column of numbers.
    pub fn number(heading: &str) -> Self {
        Self { heading: heading.into(), class: "number" }
    }

    /// Creates a column with the numbers of a solver. The style sheet makes the numbers of a peer less prominent.
    pub fn solver(name: &str, is_peer: bool) -> Self {
        Self { heading: name.into(), class: if is_peer { "number peer" } else { "number" } }
    }
}

/// Cell of an [`HtmlTable`].
#[derive(Clone, Debug)]
pub struct Cell {
    /// Text, not yet escaped.
    text: String,
    /// Class in addition to those of the column; empty for none.
    class: &'static str,
}

impl Cell {
    /// Creates a cell that the style sheet marks.
    pub fn marked(text: String) -> Self {
        Self { text, class: "marked" }
    }

    /// Creates a cell with bold text.
    pub fn strong(text: String) -> Self {
        Self { text, class: "strong" }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, class: "" }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Table with a heading for each column. The first cell of a row is its heading.
#[derive(Debug)]
pub struct HtmlTable {
    columns: Vec<Column>,
    /// Rows as text of the page.
    body: String,
}

impl HtmlTable {
    /// Creates a table without rows.
    pub fn new(columns: Vec<Column>) -> Self {
        Self { columns, body: String::new() }
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// Adds a row. Texts are escaped; hyphens in columns of numbers become minus signs. The first cell becomes the
    /// heading of the row, without the classes of its column. Cells beyond the columns are dropped.
    pub fn add_row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.body.push_str("<tr>");
        for (index, (cell, column)) in cells.into_iter().zip(&self.columns).enumerate() {
            let mut text = escape(&cell.text);
            if column.class.starts_with("number") {
                text = text.replace('-', "\u{2212}");
            }
            if index == 0 {
                put!(self.body, "<th scope=\"row\">{text}</th>");
                continue;
            }
            let class = [column.class, cell.class].join(" ");
            let (class, heading) = (class.trim(), escape(&column.heading));
            put!(self.body, "<td class=\"{class}\" data-heading=\"{heading}\">{text}</td>");
        }
        self.body.push_str("</tr>\n");
    }

    /// Returns the table as text of the page.
    pub fn html(&self) -> String {
        let mut html = String::from("<div class=\"scroll\"><table>\n<thead><tr>");
        for column in &self.columns {
            put!(html, "<th scope=\"col\" class=\"{}\">{}</th>", column.class, escape(&column.heading));
        }
        put!(html, "</tr></thead>\n<tbody>\n{}</tbody></table></div>\n", self.body);
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts are escaped, numbers have minus signs, and cells repeat the heading of their column.
    #[test]
    fn cells_are_escaped_and_repeat_their_heading() {
        let mut table = HtmlTable::new(vec![Column::text("metric"), Column::solver("<a>", true)]);
        assert!(table.is_empty());
        table.add_row(["x < y".into(), Cell::marked("-1.5".into())]);
        let html = table.html();
        assert!(html.contains("<th scope=\"row\">x &lt; y</th>"), "{html}");
        let cell = "<td class=\"number peer marked\" data-heading=\"&lt;a&gt;\">\u{2212}1.5</td>";
        assert!(html.contains(cell), "{html}");
    }
}
