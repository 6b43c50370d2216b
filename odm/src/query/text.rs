//! Conditions on strings.

use bson::{Bson, Document};

use super::compare::filter_path;
use super::deferred::Deferred;
use super::encode::Encode;
use super::field::Field;
use super::filter::Filter;
use super::kind::Text;
use super::node::Node;
use crate::model::Path;

impl<M, T, E> Field<M, T, E> {
    /// Matches where the string starts with `prefix`: `{field: {$regex: "^prefix"}}`.
    ///
    /// An index on the field speeds it up. `prefix` is literal text: its special characters are escaped.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     title: String,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(
    ///     book.title.starts_with("C++").to_document()?,
    ///     doc! {"title": {"$regex": r"^C\+\+"}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn starts_with(&self, prefix: &str) -> Filter<M>
    where
        E: Encode<T, Stored: Text>,
    {
        Filter::from_node(pattern(self.path(), format!("^{}", escape(prefix)), ""))
    }

    /// Matches where the string ends with `suffix`: `{field: {$regex: "suffix\\z"}}`.
    ///
    /// `suffix` is literal text: its special characters are escaped. No index narrows the search: MongoDB
    /// tests every value.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String }
    /// let book = fields::<Book>();
    /// assert_eq!(book.title.ends_with("s.").to_document()?, doc! {"title": {"$regex": r"s\.\z"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn ends_with(&self, suffix: &str) -> Filter<M>
    where
        E: Encode<T, Stored: Text>,
    {
        // `$` would match before a final line feed, too
        Filter::from_node(pattern(self.path(), format!(r"{}\z", escape(suffix)), ""))
    }

    /// Matches where the string contains `part`: `{field: {$regex: "part"}}`.
    ///
    /// `part` is literal text: its special characters are escaped. No index narrows the search: MongoDB tests
    /// every value. To match an array by one of its elements, use [`has`](Self::has).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String }
    /// let book = fields::<Book>();
    /// assert_eq!(book.title.contains("1+1").to_document()?, doc! {"title": {"$regex": r"1\+1"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn contains(&self, part: &str) -> Filter<M>
    where
        E: Encode<T, Stored: Text>,
    {
        Filter::from_node(pattern(self.path(), escape(part), ""))
    }

    /// Matches where the string matches a Perl-compatible regular expression: `{field: {$regex: …}}`.
    ///
    /// A hostile pattern can be slow to match. For untrusted strings, use [`starts_with`](Self::starts_with),
    /// [`contains`](Self::contains) or [`ends_with`](Self::ends_with).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String }
    /// let book = fields::<Book>();
    /// assert_eq!(book.title.regex("^U.*s$").to_document()?, doc! {"title": {"$regex": "^U.*s$"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn regex(&self, regex: &str) -> Filter<M>
    where
        E: Encode<T, Stored: Text>,
    {
        Filter::from_node(pattern(self.path(), regex.to_owned(), ""))
    }

    /// Like [`regex`](Self::regex), with options: `i` ignores case, `m` makes `^` and `$` match at line
    /// breaks, `s` makes `.` match line breaks, and `x` ignores white space in the pattern.
    ///
    /// ```
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     title: String,
    /// }
    ///
    /// let book = fields::<Book>();
    /// assert_eq!(
    ///     book.title.regex_with("^the ", "i").to_document()?,
    ///     doc! {"title": {"$regex": "^the ", "$options": "i"}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn regex_with(&self, regex: &str, options: &str) -> Filter<M>
    where
        E: Encode<T, Stored: Text>,
    {
        Filter::from_node(pattern(self.path(), regex.to_owned(), options))
    }
}

fn pattern(path: &Path, pattern: String, options: &str) -> Result<Node, Deferred> {
    let path = filter_path(path)?;
    if pattern.contains('\0') {
        return Err(Deferred::usage(
            path,
            r"a regular expression can't hold a null character; write `\x00`",
        ));
    }
    let mut operators = Document::new();
    operators.insert("$regex", pattern);
    if !options.is_empty() {
        operators.insert("$options", Bson::String(options.to_owned()));
    }
    Ok(Node::Field(path, operators.into()))
}

/// The pattern that matches `text` and nothing else.
pub(crate) fn escape(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 8);
    for each in text.chars() {
        match each {
            '\\' | '.' | '^' | '$' | '|' | '?' | '*' | '+' | '(' | ')' | '[' | ']' | '{' | '}' => {
                pattern.push('\\');
                pattern.push(each);
            }
            '\0' => pattern.push_str(r"\x00"),
            other => pattern.push(other),
        }
    }
    pattern
}
