//! A page, parsed strictly.

use std::collections::HashSet;

use roxmltree::{Document, Node, ParsingOptions};

pub(super) fn parsed(text: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(super) struct Page<'p>(Document<'p>);

impl<'p> Page<'p> {
    /// Parses a page, and checks what each page has to keep.
    pub(super) fn of(html: &'p str) -> Self {
        let is_shown = |one: char| one == '\n' || !one.is_control() && one != '\u{202E}';
        assert!(html.chars().all(is_shown), "{html:?}");
        let page = Self(parsed(html));
        page.assert_sealed();
        page.assert_linked();
        page
    }

    /// No scripts, and nothing from elsewhere.
    fn assert_sealed(&self) {
        const FORBIDDEN: [&str; 8] = [
            "script", "img", "iframe", "link", "object", "form", "b", "i",
        ];
        for node in self.0.descendants().filter(Node::is_element) {
            let name = node.tag_name().name();
            assert!(!FORBIDDEN.contains(&name), "<{name}>");
            for attribute in node.attributes() {
                let (name, value) = (attribute.name(), attribute.value());
                assert!(
                    !name.starts_with("on") && name != "src" && name != "style",
                    "{name}"
                );
                assert!(name != "href" || value.starts_with('#'), "{value}");
            }
            if name == "style" {
                // A browser reads styles without the escapes of XML.
                let style = node.text().unwrap();
                for mark in ["<", "&", "url(", "@import"] {
                    assert!(!style.contains(mark), "{style}");
                }
            }
        }
        let policy = self
            .0
            .descendants()
            .find(|node| node.attribute("http-equiv") == Some("Content-Security-Policy"));
        let policy = policy.unwrap().attribute("content").unwrap();
        assert!(policy.starts_with("default-src 'none';"), "{policy}");
    }

    /// Ids are unique, and each link leads to one.
    fn assert_linked(&self) {
        let mut ids = HashSet::new();
        for id in self.values("id") {
            assert!(ids.insert(id), "two elements have the id {id}");
        }
        let labels = self.values("aria-labelledby").map(str::to_owned);
        let links = self.values("href").map(|link| link.replace('#', ""));
        for target in labels.chain(links) {
            assert!(
                ids.contains(target.as_str()),
                "no element has the id {target}"
            );
        }
    }

    fn values(&self, name: &'static str) -> impl Iterator<Item = &str> {
        let nodes = self.0.descendants();
        nodes.filter_map(move |node| node.attribute(name))
    }

    /// The text of an element and of those in it.
    pub(super) fn text_of(&self, id: &str) -> String {
        let mut nodes = self.0.descendants();
        let node = nodes.find(|node| node.attribute("id") == Some(id));
        let texts = node.unwrap_or_else(|| panic!("{id}")).descendants();
        let texts = texts.filter(Node::is_text).filter_map(|node| node.text());
        texts.collect()
    }
}
