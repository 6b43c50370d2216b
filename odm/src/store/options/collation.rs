//! Collations: rules for comparing strings.

use bson::{Document, doc};

use crate::error::{Error, Result};

/// The rules by which an operation compares strings. Unset options have the locale's defaults.
///
/// ```
/// use odm::collection::Collation;
/// let ignoring_case = Collation::new("en").strength(2);
/// # let _ = ignoring_case;
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Collation(Document);

/// The case that sorts first at strength 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseFirst {
    /// Upper case.
    Upper,
    /// Lower case.
    Lower,
    /// The locale's own order.
    Off,
}

/// Whether white space and punctuation count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternate {
    /// White space and punctuation count as base characters.
    NonIgnorable,
    /// White space and punctuation count only at strength 4 and 5.
    Shifted,
}

/// The characters that [`Alternate::Shifted`] ignores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxVariable {
    /// White space and punctuation.
    Punct,
    /// White space.
    Space,
}

impl Collation {
    /// The rules of an ICU locale, such as `en` or `fr_CA`; `simple` compares bytes.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::Collation;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// books.insert_one(book(4, "Über den Fluß", 1920)).await?;
    /// let german = Collation::new("de");
    /// let sorted = books.find_all().sort(|b| b.title.asc()).collation(german).all().await?;
    /// assert_eq!((sorted[1].id, sorted[2].id), (4, 3), "Ü stands before Ul");
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(locale: impl Into<String>) -> Self {
        Self(doc! { "locale": locale.into() })
    }

    /// The level of comparison: 1 compares base letters, 2 also accents, 3 (the default) also case, up to 5.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::Collation;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let base_letters = Collation::new("en").strength(1);
    /// let found = books.find(|b| b.title.eq("émma")).collation(base_letters).all().await?;
    /// assert_eq!(found[0].title, "Emma");
    /// # Ok(())
    /// # }
    /// ```
    pub fn strength(mut self, strength: u8) -> Self {
        self.0.insert("strength", i32::from(strength));
        self
    }

    /// Whether case also counts at strength 1 and 2.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::Collation;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let accents_aside = Collation::new("en").strength(1).case_level(true);
    /// let found = books.find(|b| b.title.eq("Émma")).collation(accents_aside.clone());
    /// assert_eq!(found.count().await?, 1);
    /// let found = books.find(|b| b.title.eq("émma")).collation(accents_aside);
    /// assert_eq!(found.count().await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn case_level(mut self, case_level: bool) -> Self {
        self.0.insert("caseLevel", case_level);
        self
    }

    /// The case that sorts first.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::Collation;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # use odm::collection::CaseFirst;
    /// books.insert_one(book(4, "emma", 2020)).await?;
    /// let upper = Collation::new("en").case_first(CaseFirst::Upper);
    /// let sorted = books.find_all().sort(|b| b.title.asc()).collation(upper).all().await?;
    /// assert_eq!((sorted[0].title.as_str(), sorted[1].title.as_str()), ("Emma", "emma"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn case_first(mut self, case_first: CaseFirst) -> Self {
        let word = match case_first {
            CaseFirst::Upper => "upper",
            CaseFirst::Lower => "lower",
            CaseFirst::Off => "off",
        };
        self.0.insert("caseFirst", word);
        self
    }

    /// Whether "10" sorts after "2".
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::Collation;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// books.insert_many([book(4, "Part 10", 1999), book(5, "Part 2", 1991)]).await?;
    /// let by_number = Collation::new("en").numeric_ordering(true);
    /// let parts = books.find(|b| b.id.gt(3)).sort(|b| b.title.asc()).collation(by_number);
    /// assert_eq!(parts.all().await?[0].title, "Part 2");
    /// # Ok(())
    /// # }
    /// ```
    pub fn numeric_ordering(mut self, numeric_ordering: bool) -> Self {
        self.0.insert("numericOrdering", numeric_ordering);
        self
    }

    /// Whether white space and punctuation count.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::Collation;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # use odm::collection::Alternate;
    /// let letters = Collation::new("en").alternate(Alternate::Shifted);
    /// let found = books.find(|b| b.title.eq("Em-ma")).collation(letters).all().await?;
    /// assert_eq!(found[0].title, "Emma");
    /// # Ok(())
    /// # }
    /// ```
    pub fn alternate(mut self, alternate: Alternate) -> Self {
        let word = match alternate {
            Alternate::NonIgnorable => "non-ignorable",
            Alternate::Shifted => "shifted",
        };
        self.0.insert("alternate", word);
        self
    }

    /// The characters that [`Alternate::Shifted`] ignores.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::Collation;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// # use odm::collection::{Alternate, MaxVariable};
    /// let letters = Collation::new("en").alternate(Alternate::Shifted);
    /// let spaces_aside = letters.max_variable(MaxVariable::Space);
    /// let found = books.find(|b| b.title.eq("Em ma")).collation(spaces_aside.clone());
    /// assert_eq!(found.count().await?, 1);
    /// let found = books.find(|b| b.title.eq("Em-ma")).collation(spaces_aside);
    /// assert_eq!(found.count().await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_variable(mut self, max_variable: MaxVariable) -> Self {
        let word = match max_variable {
            MaxVariable::Punct => "punct",
            MaxVariable::Space => "space",
        };
        self.0.insert("maxVariable", word);
        self
    }

    /// Whether accents are compared from the end of the string, as in Canadian French.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::Collation;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// books.insert_many([book(4, "coté", 1999), book(5, "côte", 1991)]).await?;
    /// let canadian = Collation::new("fr_CA").backwards(true);
    /// let sorted = books.find(|b| b.id.gt(3)).sort(|b| b.title.asc()).collation(canadian);
    /// assert_eq!(sorted.all().await?[0].title, "côte");
    /// # Ok(())
    /// # }
    /// ```
    pub fn backwards(mut self, backwards: bool) -> Self {
        self.0.insert("backwards", backwards);
        self
    }

    /// Whether text is normalized before it is compared.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::Collation;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// books.insert_one(book(4, "Café", 1999)).await?;
    /// let normalized = Collation::new("fr").normalization(true);
    /// // An `e`, and an accent behind it.
    /// let found = books.find(|b| b.title.eq("Cafe\u{301}")).collation(normalized).all().await?;
    /// assert_eq!(found[0].id, 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn normalization(mut self, normalization: bool) -> Self {
        self.0.insert("normalization", normalization);
        self
    }

    /// Refuses unknown strengths; the server checks all other options.
    pub(crate) fn check(&self) -> Result<()> {
        match self.0.get_i32("strength") {
            Ok(strength) if !(1..=5).contains(&strength) => Err(Error::usage(format!(
                "collation strength must be 1 to 5, not {strength}"
            ))),
            _ => Ok(()),
        }
    }

    pub(crate) fn to_document(&self) -> Document {
        self.0.clone()
    }
}
