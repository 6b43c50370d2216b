//! The fields of a document, found by one walk over its bytes for all conditions of a filter.

use crate::value::raw::{Element, Elements, Name};

/// How many fields are remembered.
const MAX_FIELDS: usize = 8;

/// A field that the walk has passed: the first bytes of its name, and its offset in the document.
#[derive(Debug, Clone, Copy, Default)]
struct Met {
    word: u64,
    offset: usize,
}

/// A document whose fields are looked up by name.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    document: &'a [u8],
    met: [Met; MAX_FIELDS],
    /// How many entries of `met` are filled.
    count: usize,
    /// The elements that the walk has not reached yet.
    rest: Elements<'a>,
    /// Whether the caller wants to know which element of an array matched.
    asks_position: bool,
}

impl<'a> Fields<'a> {
    #[inline]
    pub(super) fn new(document: &'a [u8]) -> Self {
        Self {
            document,
            met: [Met::default(); MAX_FIELDS],
            count: 0,
            rest: Elements::new(document),
            asks_position: false,
        }
    }

    /// Like [`Fields::new`], for a caller who wants to know which element of an array matched.
    pub(super) fn asking_position(document: &'a [u8]) -> Self {
        let mut it = Self::new(document);
        it.asks_position = true;
        it
    }

    pub(super) fn asks_position(&self) -> bool {
        self.asks_position
    }

    /// The bytes of the document.
    pub(super) fn document(&self) -> &'a [u8] {
        self.document
    }

    /// The first field of this name.
    pub(super) fn find(&mut self, name: Name<'_>) -> Option<Element<'a>> {
        let again = |met: &Met| {
            let element = Elements::from(self.document, met.offset).next();
            element.filter(|element| element.is(name))
        };
        let mut met = self.met.iter().take(self.count);
        if let Some(element) =
            met.find_map(|met| (met.word == name.word()).then(|| again(met)).flatten())
        {
            return Some(element);
        }
        while let Some(place) = self.met.get_mut(self.count) {
            let offset = self.rest.offset();
            let element = self.rest.advance()?;
            *place = Met {
                word: element.word(),
                offset,
            };
            self.count += 1;
            if element.is(name) {
                return Some(element);
            }
        }
        self.rest.clone().find_name(name)
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::{Fields, MAX_FIELDS};
    use crate::value::raw::{Name, walk};

    #[test]
    fn lookups_in_any_order_match_a_fresh_walk() {
        let mut document =
            rawdoc! { "": 0, "long name of a field": 1, "long name of": 2, "eight888": 3 };
        for number in 0..3 * MAX_FIELDS {
            let name = format!("f{}", number % (2 * MAX_FIELDS));
            document.append(
                bson::raw::CString::try_from(name).unwrap(),
                i64::try_from(number).unwrap(),
            );
        }
        let names: Vec<String> = [
            "",
            "long name of a field",
            "long name of",
            "eight888",
            "eight88",
            "f\0",
            "none",
        ]
        .map(str::to_owned)
        .into_iter()
        .chain((0..3 * MAX_FIELDS).map(|number| format!("f{number}")))
        .collect();
        for step in 1..names.len() {
            let mut fields = Fields::new(document.as_bytes());
            for at in 0..2 * names.len() {
                let name = &names[at * step % names.len()];
                let alone = walk(&document).find(|element| element.key_bytes() == name.as_bytes());
                let place = alone.and_then(|element| element.place(document.as_bytes()));
                let found = fields.find(Name::new(name.as_bytes()));
                assert_eq!(
                    found.and_then(|element| element.place(document.as_bytes())),
                    place,
                    "{name}"
                );
            }
        }
    }
}
