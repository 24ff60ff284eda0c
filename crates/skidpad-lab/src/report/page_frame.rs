//! Beginning and end of every page: style sheets, data and scripts, so that a page needs no network.

use serde_json::{Value, json};

use super::escape::escape;

/// Style sheet of all pages.
const PAGE_STYLE: &str = include_str!("../../assets/report.css");
/// Style sheet of the plotting library.
const PLOT_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");
/// Plotting library; see `assets/uplot/PROVENANCE.md`.
const PLOT_LIBRARY: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
/// Script that the plotting library depends on.
const PIXEL_RATIO: &str = include_str!("../../assets/pixel_ratio.js");
/// Scripts of all pages, in the order in which they refer to each other.
const PAGE_SCRIPTS: [&str; 7] = [
    include_str!("../../assets/data.js"),
    include_str!("../../assets/style.js"),
    include_str!("../../assets/marks.js"),
    include_str!("../../assets/plots.js"),
    include_str!("../../assets/replay.js"),
    include_str!("../../assets/self_test.js"),
    include_str!("../../assets/main.js"),
];

/// Returns the beginning of a page, up to its first content. Escapes `title`.
pub fn page_start(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <style>\n{PLOT_STYLE}\n{PAGE_STYLE}</style>\n\
         </head>\n<body>\n<main>\n\
         <noscript><p class=\"alarm\">Plots and replay need JavaScript.</p></noscript>\n",
        escape(title)
    )
}

/// Returns the end of a page with the data of its `sections` and the scripts.
pub fn page_end(sections: Vec<Value>) -> String {
    let data = script_text(&json!({ "sections": sections }));
    let mut page = format!("</main>\n<script type=\"application/json\" id=\"report-data\">{data}</script>\n");
    for script in [PIXEL_RATIO, PLOT_LIBRARY].into_iter().chain(PAGE_SCRIPTS) {
        page.push_str("<script>\n");
        page.push_str(script);
        page.push_str("</script>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

/// Returns `value` as text that cannot end a script element: every `<` is escaped. It occurs in strings only.
fn script_text(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data that contain the end of a script stay data, and no script ends early.
    #[test]
    fn text_cannot_end_a_script() {
        let name = "</script><script>alert(1)</script>";
        let page = page_end(vec![json!({ "name": name })]);
        // The data, the pixel ratio and the library.
        let scripts = 3 + PAGE_SCRIPTS.len();
        assert_eq!(page.matches("</script").count(), scripts, "an asset contains the end of a script");
        let start = page.find("report-data\">").expect("data") + "report-data\">".len();
        let end = start + page[start..].find("</script>").expect("an end");
        let data: Value = serde_json::from_str(&page[start..end]).expect("JSON");
        assert_eq!(data["sections"][0]["name"], name);
    }
}
