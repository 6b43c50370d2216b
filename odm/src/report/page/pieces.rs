//! Tables, links and other pieces of which sections consist.

use super::text;
use crate::markup::Markup;
use crate::report::Part;

/// The value of a part. For one without a value, writes a sentence.
pub(super) fn made<'p, T>(section: &mut Markup, name: &str, part: &'p Part<T>) -> Option<&'p T> {
    match part {
        Part::Made(value) => return Some(value),
        Part::Failed(sentence) => section.element("p").class("bad").with(|p| {
            p.text(format_args!("{name} could not be made: "));
            text::prose(p, sentence);
        }),
        Part::LeftOut => section
            .element("p")
            .text(format_args!("{name} was left out.")),
    }
    None
}

pub(super) fn link(markup: &mut Markup, to: impl std::fmt::Display, name: impl std::fmt::Display) {
    markup.element("a").attr("href", to).text(name);
}

/// Wide content, which scrolls by itself so that the page does not.
pub(super) fn scrolling(markup: &mut Markup, label: &str, content: impl FnOnce(&mut Markup)) {
    markup
        .element("div")
        .class("scroll")
        .attr("role", "region")
        .attr("aria-label", label)
        .attr("tabindex", 0)
        .with(content);
}

/// A table with a row of headings. Each row writes its cells.
pub(super) fn table<T>(
    markup: &mut Markup,
    label: &str,
    headings: &[&'static str],
    rows: impl IntoIterator<Item = T>,
    write_row: impl Fn(&mut Markup, T),
) {
    scrolling(markup, label, |box_| {
        box_.element("table").with(|table| {
            table.element("thead").with(|head| {
                head.element("tr").with(|row| {
                    for heading in headings {
                        row.element("th").attr("scope", "col").text(heading);
                    }
                });
            });
            table.element("tbody").with(|body| {
                for row in rows {
                    body.element("tr").with(|markup| write_row(markup, row));
                }
            });
        });
    });
}

pub(super) fn cell(row: &mut Markup, content: impl std::fmt::Display) {
    row.element("td").text(content);
}

pub(super) fn number(row: &mut Markup, content: impl std::fmt::Display) {
    row.element("td").class("number").text(content);
}

pub(super) fn code_cell(row: &mut Markup, content: impl std::fmt::Display) {
    row.element("td")
        .with(|cell| cell.element("code").text(content));
}
