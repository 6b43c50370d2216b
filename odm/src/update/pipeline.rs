//! Changes by an aggregation pipeline, which can compute from the document.

use bson::{Bson, doc};

use super::Update;
use super::operators::{Changes, Stage};
use crate::expr::kind::Stores;
use crate::expr::{IntoExpr, names_only};
use crate::model::Path;
use crate::query::deferred::Deferred;
use crate::query::{Encode, Field, IntoValue};

impl<M, T, E> Field<M, T, E> {
    /// Stores the value of an expression: the stage `{$set: {field: expression}}` of a pipeline.
    ///
    /// Joined with `&`, the stages run one after the other, so that a later one sees what an earlier one stored. An
    /// expression without a method of its own is written by hand: [`raw_expr`](crate::expr::raw_expr).
    ///
    /// ```
    /// use bson::bson;
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     total: i32,
    ///     available: i32,
    ///     out: i32,
    /// }
    ///
    /// let book = fields::<Book>();
    /// let update = book.total.set_expr(book.available + &book.out) & book.out.set_literal(0);
    /// assert_eq!(
    ///     update.to_bson()?,
    ///     bson!([
    ///         {"$set": {"total": {"$add": ["$available", "$out"]}}},
    ///         {"$set": {"out": {"$literal": 0}}},
    ///     ]),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn set_expr<X>(&self, expression: X) -> Update<M>
    where
        E: Encode<T, Stored: Sized>,
        X: IntoExpr<M>,
        X::Value: Stores<E::Stored>,
    {
        let expression = expression.into_expr().into_bson();
        Update::from_changes(stage(self.path(), expression))
    }

    /// Stores `value` in an update by a pipeline: the stage `{$set: {field: {$literal: value}}}`.
    ///
    /// ```
    /// # use bson::bson;
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { title: String, out: i32 }
    /// let update = fields::<Book>().title.set_literal("$9.99");
    /// assert_eq!(update.to_bson()?, bson!([{"$set": {"title": {"$literal": "$9.99"}}}]));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn set_literal(&self, value: impl IntoValue<T>) -> Update<M>
    where
        E: Encode<T>,
    {
        let value = Self::encode(value);
        let literal = value.map(|value| Bson::Document(doc! {"$literal": value}));
        let literal = literal.map_err(|error| Deferred::encode(self.path().to_string(), &error));
        Update::from_changes(stage(self.path(), literal))
    }
}

fn stage(path: &Path, expression: Result<Bson, Deferred>) -> Result<Changes, Deferred> {
    if path.is_root() {
        return Err(Deferred::usage(
            "",
            "a pipeline has no paths into arrays by position: compute the whole array with an expression",
        ));
    }
    let path = names_only(path)?;
    let expression = expression?;
    Ok(Changes::Pipeline(vec![Stage::Set { path, expression }]))
}
