//! Text.

use super::expression::{Expr, IntoExpr};
use super::kind::{Nullness, Textual};
use super::node::Node;
use super::operators;

/// The type of a result of one text.
type Of<A, T> = <<A as Textual>::Null as Nullness>::Of<T>;
/// The type of a result of two texts.
type OfBoth<A, B, T> =
    <<<A as Textual>::Null as Nullness>::Or<<B as Textual>::Null> as Nullness>::Of<T>;

impl<S, A: Textual> Expr<S, A> {
    /// Appends text: `$concat`. The result is null if one of both is.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Person { first: String, last: String }
    /// let person = fields::<Person>();
    /// let name = person.first.expr().concat(" ").concat(person.last);
    /// assert_eq!(name.to_bson()?, bson::bson!({"$concat": ["$first", " ", "$last"]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn concat<R>(self, other: R) -> Expr<S, OfBoth<A, R::Value, String>>
    where
        R: IntoExpr<S>,
        R::Value: Textual,
    {
        let node = match (self.into_node(), other.into_expr().into_node()) {
            (Ok(one), Ok(other)) => Ok(Node::joined(operators::CONCAT.name, one, other)),
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
        Expr::from_node(node)
    }

    /// In lower case, of the letters A to Z only: `$toLower`. Null becomes the empty text.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct User { mail: String }
    /// let key = fields::<User>().mail.expr().to_lower();
    /// assert_eq!(key.to_bson()?, bson::bson!({"$toLower": "$mail"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn to_lower(self) -> Expr<S, String> {
        self.one(operators::TO_LOWER.name)
    }

    /// In upper case, of the letters a to z only: `$toUpper`. Null becomes the empty text.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Country { code: String }
    /// let code = fields::<Country>().code.expr().to_upper();
    /// assert_eq!(code.to_bson()?, bson::bson!({"$toUpper": "$code"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn to_upper(self) -> Expr<S, String> {
        self.one(operators::TO_UPPER.name)
    }

    /// Without white space at both ends: `$trim`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Tag { name: String }
    /// let name = fields::<Tag>().name.expr().trim();
    /// assert_eq!(name.to_bson()?, bson::bson!({"$trim": {"input": "$name"}}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn trim(self) -> Expr<S, Of<A, String>> {
        self.named(operators::TRIM.name, "input", [])
    }

    /// The number of characters (code points): `$strLenCP`. That of null is an error of MongoDB, so a text that can be null
    /// needs a default first: `.or("")`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Post { body: String }
    /// let length = fields::<Post>().body.expr().char_count();
    /// assert_eq!(length.to_bson()?, bson::bson!({"$strLenCP": "$body"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn char_count(self) -> Expr<S, i32>
    where
        A: Textual<Null = super::kind::Never>,
    {
        self.one(operators::STR_LEN_CP.name)
    }

    /// At most `count` characters from the position `start`, which counts from 0: `$substrCP`. Null becomes the empty text.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Person { name: String }
    /// let initial = fields::<Person>().name.expr().substring(0, 1);
    /// assert_eq!(initial.to_bson()?, bson::bson!({"$substrCP": ["$name", 0, 1]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn substring(self, start: i32, count: i32) -> Expr<S, String> {
        let bounds = [start, count].map(|bound| Ok(Node::Literal(bound.into())));
        self.list(operators::SUBSTR_CP.name, bounds)
    }

    /// The parts between separators: `$split`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Post { body: String }
    /// let words = fields::<Post>().body.expr().split(" ");
    /// assert_eq!(words.to_bson()?, bson::bson!({"$split": ["$body", " "]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn split(self, separator: &str) -> Expr<S, Of<A, Vec<String>>> {
        self.list(operators::SPLIT.name, [Ok(Node::text(separator))])
    }

    /// With each occurrence of a text replaced: `$replaceAll`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Phone { number: String }
    /// let digits = fields::<Phone>().number.expr().replace_all("-", "");
    /// assert_eq!(
    ///     digits.to_bson()?,
    ///     bson::bson!({"$replaceAll": {"input": "$number", "find": "-", "replacement": ""}}),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn replace_all(self, find: &str, replacement: &str) -> Expr<S, Of<A, String>> {
        let others = [
            ("find", Ok(Node::text(find))),
            ("replacement", Ok(Node::text(replacement))),
        ];
        self.named(operators::REPLACE_ALL.name, "input", others)
    }

    /// Whether a regular expression matches: `$regexMatch`. It does not match null.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct User { mail: String }
    /// let is_ours = fields::<User>().mail.expr().matches(r"@example\.com$", "i");
    /// assert_eq!(
    ///     is_ours.to_bson()?,
    ///     bson::bson!({"$regexMatch": {"input": "$mail", "regex": r"@example\.com$", "options": "i"}}),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn matches(self, pattern: &str, options: &str) -> Expr<S, bool> {
        let others = [
            ("regex", Ok(Node::text(pattern))),
            ("options", Ok(Node::text(options))),
        ];
        self.named(operators::REGEX_MATCH.name, "input", others)
    }

    /// The position of the first occurrence, counted in characters from 0, or -1: `$indexOfCP`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct User { mail: String }
    /// let at = fields::<User>().mail.expr().index_of("@");
    /// assert_eq!(at.to_bson()?, bson::bson!({"$indexOfCP": ["$mail", "@"]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn index_of(self, text: &str) -> Expr<S, Of<A, i32>> {
        self.list(operators::INDEX_OF_CP.name, [Ok(Node::text(text))])
    }
}
