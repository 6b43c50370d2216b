//! Changes by an aggregation pipeline, which can compute from the document.

use bson::{Bson, doc};

use super::Update;
use super::operators::{Changes, Stage};
use crate::error::Result;
use crate::model::{Path, Segment};
use crate::query::compare::stored_path;
use crate::query::deferred::Deferred;
use crate::query::{Encode, Field, IntoValue};

impl<M, T, E> Field<M, T, E> {
    /// Stores the value of an expression: the stage `{$set: {field: expression}}` of a pipeline.
    ///
    /// The expression is raw: strings that start with `$` are paths. Joined with `&`, the stages run one
    /// after the other, so that a later one sees what an earlier one stored.
    ///
    /// ```
    /// use bson::bson;
    /// use odm::prelude::*;
    /// use odm::query::fields;
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Book {
    ///     total: i32,
    ///     out: i32,
    /// }
    ///
    /// let book = fields::<Book>();
    /// let update = book.total.set_expr(doc! {"$add": ["$available", book.out.expr()?]}) & book.out.set_literal(0);
    /// assert_eq!(
    ///     update.to_bson()?,
    ///     bson!([
    ///         {"$set": {"total": {"$add": ["$available", "$out"]}}},
    ///         {"$set": {"out": {"$literal": 0}}},
    ///     ]),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn set_expr(&self, expression: impl Into<Bson>) -> Update<M> {
        Update::from_changes(stage(self.path(), Ok(expression.into())))
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
        Update::from_changes(stage(self.path(), literal))
    }

    /// The field's value in an expression: `"$field"`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Stock { available: i32 }
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { stock: Stock }
    /// let available = fields::<Book>().stock.available.expr()?;
    /// assert_eq!(available, "$stock.available");
    /// # Ok::<(), odm::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The path reaches into an array by position, which expressions can't do.
    pub fn expr(&self) -> Result<String> {
        match names_only(self.path()) {
            Ok(path) => Ok(format!("${path}")),
            Err(error) => Err(error.to_error()),
        }
    }
}

fn stage(path: &Path, value: Result<Bson>) -> Result<Changes, Deferred> {
    let path = names_only(path)?;
    let value = value.map_err(|error| Deferred::encode(&*path, &error))?;
    Ok(Changes::Pipeline(vec![Stage::Set {
        path,
        expression: value,
    }]))
}

fn names_only(path: &Path) -> Result<String, Deferred> {
    let stored = stored_path(path)?;
    let names = path
        .segments()
        .all(|segment| matches!(segment, Segment::Name(_)));
    if names && !path.is_root() {
        Ok(stored)
    } else {
        Err(Deferred::usage(
            stored,
            "a pipeline has no paths into arrays by position: compute the whole array with an expression",
        ))
    }
}
