//! A diagram as the text of a Mermaid entity diagram.

use std::fmt::{self, Write as _};

use super::{Attribute, Diagram, Ends, EntityKind, Line, LineKind};

impl Diagram {
    /// The text of a [Mermaid entity diagram](https://mermaid.js.org), as [`diagram`](super::diagram()) returns it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # fn main() -> odm::Result<()> {
    /// let diagram = odm::schema::Diagram::of(models![Book])?;
    /// assert!(diagram.mermaid().starts_with("erDiagram\n    Book[\"books\"] {\n"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn mermaid(&self) -> String {
        let mut text = "erDiagram\n".to_owned();
        self.write_mermaid(&mut text)
            .expect("a string takes all that is written to it");
        text
    }

    fn write_mermaid(&self, text: &mut String) -> fmt::Result {
        for entity in &self.entities {
            let name = identifier(entity.name);
            match entity.kind {
                EntityKind::Collection(collection) => {
                    writeln!(text, "    {name}[\"{}\"] {{", quoted(collection))?;
                }
                EntityKind::Embedded => writeln!(text, "    {name} {{")?,
                // The line to it names it.
                EntityKind::NotListed => continue,
            }
            for attribute in &entity.attributes {
                write_attribute(attribute, text)?;
            }
            writeln!(text, "    }}")?;
        }
        self.lines
            .iter()
            .try_for_each(|line| self.write_line(line, text))
    }

    fn write_line(&self, line: &Line, text: &mut String) -> fmt::Result {
        let name = |entity: usize| {
            let entity = self.entities.get(entity);
            identifier(entity.map_or("", |entity| entity.name))
        };
        let left = match line.from.1 {
            Ends::One => "||",
            Ends::AtMostOne => "|o",
            Ends::Any => "}o",
        };
        let right = match line.to.1 {
            Ends::One => "||",
            Ends::AtMostOne => "o|",
            Ends::Any => "o{",
        };
        let middle = match line.kind {
            LineKind::Embeds => "--",
            LineKind::Refers => "..",
        };
        let (from, to) = (name(line.from.0), name(line.to.0));
        let label = quoted(&line.label);
        writeln!(text, "    {from} {left}{middle}{right} {to} : \"{label}\"")
    }
}

fn write_attribute(attribute: &Attribute, text: &mut String) -> fmt::Result {
    let ty = attribute.ty.written(&identifier);
    write!(text, "        {ty} {}", word(attribute.name))?;
    if let Some(key) = attribute.key {
        write!(text, " {}", key.mark())?;
    }
    let comments = attribute.comments();
    if !comments.is_empty() {
        write!(text, " \"{}\"", quoted(&comments.join(", ")))?;
    }
    writeln!(text)
}

/// A name that Mermaid accepts for a box.
pub(super) fn identifier(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|one| {
            if one.is_ascii_alphanumeric() || one == '_' {
                one
            } else {
                '_'
            }
        })
        .collect();
    name.trim_end_matches('_').to_owned()
}

/// A name that Mermaid accepts for a field.
pub(super) fn word(name: &str) -> String {
    let mut word: String = name
        .chars()
        .map(|one| {
            if one.is_alphanumeric() || one == '_' || one == '-' {
                one
            } else {
                '_'
            }
        })
        .collect();
    if word.starts_with(|one: char| one.is_ascii_digit() || one == '-') {
        word.insert(0, '_');
    }
    word
}

/// Text between quotation marks.
pub(super) fn quoted(text: &str) -> String {
    text.replace('"', "'")
}
