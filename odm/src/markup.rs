//! Writes HTML and SVG: elements, and text with everything escaped.
//!
//! The result is well-formed XML that browsers also read as HTML, so that tests can parse it strictly. Names and values of
//! documents reach a page only through [`Markup::text`] and [`Element::attr`], and both escape by one function.

use std::fmt::{self, Display, Write};

/// A page or a part of one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Markup {
    text: String,
}

/// An element whose start tag is being written.
#[must_use = "an element is closed by its content"]
pub(crate) struct Element<'m> {
    markup: &'m mut Markup,
    name: &'static str,
}

impl Markup {
    pub(crate) fn element(&mut self, name: &'static str) -> Element<'_> {
        self.text.push('<');
        self.text.push_str(name);
        Element { markup: self, name }
    }

    pub(crate) fn text(&mut self, text: impl Display) {
        write_escaped(&mut self.text, text);
    }

    /// Writes text that is markup or CSS already. It is a constant, so that no stored value gets here.
    pub(crate) fn raw(&mut self, text: &'static str) {
        self.text.push_str(text);
    }

    pub(crate) fn into_string(self) -> String {
        self.text
    }
}

impl Element<'_> {
    pub(crate) fn attr(self, name: &'static str, value: impl Display) -> Self {
        let text = &mut self.markup.text;
        text.push(' ');
        text.push_str(name);
        text.push_str("=\"");
        write_escaped(text, value);
        text.push('"');
        self
    }

    pub(crate) fn class(self, class: &'static str) -> Self {
        self.attr("class", class)
    }

    /// Closes an element that has no content: a void element of HTML, or a shape of SVG.
    pub(crate) fn empty(self) {
        self.markup.text.push_str("/>");
    }

    pub(crate) fn text(self, text: impl Display) {
        self.with(|markup| markup.text(text));
    }

    pub(crate) fn with(self, content: impl FnOnce(&mut Markup)) {
        self.markup.text.push('>');
        content(self.markup);
        self.markup.text.push_str("</");
        self.markup.text.push_str(self.name);
        self.markup.text.push('>');
    }
}

fn write_escaped(text: &mut String, value: impl Display) {
    write!(Escape(text), "{value}").expect("a string takes all that is written to it");
}

/// Escapes what is written to it.
struct Escape<'t>(&'t mut String);

impl Write for Escape<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for one in text.chars() {
            match one {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                one => push_visible(self.0, one),
            }
        }
        Ok(())
    }
}

/// The text as a page shows it: characters that nobody sees, and those that change the order of others, by their numbers.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for one in text.chars() {
        push_visible(&mut shown, one);
    }
    shown
}

fn push_visible(text: &mut String, one: char) {
    if is_invisible(one) {
        // Writing to a string can't fail.
        let _ = write!(text, "[U+{:04X}]", u32::from(one));
    } else {
        text.push(one);
    }
}

/// Whether XML refuses the character, or a reader would be misled by it.
fn is_invisible(one: char) -> bool {
    let is_layout = matches!(one, '\n' | '\t');
    let is_mark = matches!(
        one,
        '\u{61C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{FEFF}'
    );
    let is_override = matches!(one, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let is_no_character = u32::from(one) & 0xFFFE == 0xFFFE;
    (one.is_control() && !is_layout) || is_mark || is_override || is_no_character
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_nest_and_escape() {
        let mut page = Markup::default();
        page.element("p").attr("title", "\"a\" & 'b'").with(|p| {
            p.text("1 < 2");
            p.element("br").empty();
            p.element("b").text(format_args!("{}", "</b><script>"));
        });
        assert_eq!(
            page.into_string(),
            "<p title=\"&quot;a&quot; &amp; &#39;b&#39;\">1 &lt; 2<br/><b>&lt;/b&gt;&lt;script&gt;</b></p>"
        );
    }

    #[test]
    fn what_nobody_sees_is_shown_by_its_number() {
        let text = "a\0b\u{202E}c\u{FFFF}d\u{85}\r\n";
        let shown = "a[U+0000]b[U+202E]c[U+FFFF]d[U+0085][U+000D]\n";
        assert_eq!(visible(text), shown);
        let mut page = Markup::default();
        page.text(text);
        assert_eq!(page.into_string(), shown);
    }
}
