//! Stages that put a value beside each document: an element of a list, or an expression.

use bson::{Document, doc};

use super::input::{Input, With};
use super::stages::Pipeline;
use crate::expr::{IntoExpr, names_only};
use crate::model::{Embedded, FieldType};
use crate::query::deferred::Deferred;
use crate::query::kind::Sequence;
use crate::query::{Encode, Field};
use crate::types::geo::{Distances, Geospatial, Point};

/// An element of a list.
type Element<T, E> = <<E as Encode<T>>::Stored as Sequence>::Element;
type Unwound<S, T, E> = With<S, Element<T, E>>;

impl<M, S: Input> Pipeline<M, S> {
    /// Makes a document of each element of a list, which closures then receive beside the document: `$unwind`. Documents with
    /// an empty list are left out, and so are those without one.
    ///
    /// The field itself holds the element then: use the element instead.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # use odm::output;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Line { sku: String, quantity: i32 }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "orders")]
    /// # struct Order { #[serde(rename = "_id")] id: i32, #[odm(embed(few, max = 100))] lines: Vec<Line> }
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Sold {
    ///     #[serde(rename = "_id")]
    ///     sku: String,
    ///     quantity: i64,
    /// }
    ///
    /// let sold = pipeline::<Order>().unwind(|o| o.lines).group_by(
    ///     |(_, line)| line.sku,
    ///     |(_, line), group| output!(Sold { sku: group.key(), quantity: group.sum(line.quantity) }),
    /// );
    /// assert_eq!(
    ///     sold.to_stages()?,
    ///     [
    ///         doc! {"$unwind": "$lines"},
    ///         doc! {"$group": {"_id": "$lines.sku", "quantity": {"$sum": "$lines.quantity"}}},
    ///     ],
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn unwind<T, E>(
        mut self,
        list: impl FnOnce(S::Handles<S>) -> Field<S, T, E>,
    ) -> Pipeline<M, With<S, Element<T, E>>>
    where
        E: Encode<T, Stored: Sequence<Element: FieldType>>,
    {
        let path = list(self.handles()).path().clone().required();
        let stage = names_only(&path).map(|path| vec![doc! {"$unwind": format!("${path}")}]);
        self.add(stage);
        self.with_value(path)
    }

    /// Makes a document of each element of a list, as [`unwind`](Self::unwind), and one without an element of a document
    /// whose list is empty or missing: `$unwind` with `preserveNullAndEmptyArrays`.
    ///
    /// Where there is no element, its fields are missing: an output refuses them for a field that can't be null. See
    /// [`Expr::optional`](crate::expr::Expr::optional).
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, tags: Vec<String> }
    /// let tagged = pipeline::<Book>().unwind_or_none(|b| b.tags).sort(|(_, tag)| tag.asc());
    /// assert_eq!(
    ///     tagged.to_stages()?[0],
    ///     doc! {"$unwind": {"path": "$tags", "preserveNullAndEmptyArrays": true}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn unwind_or_none<T, E>(
        mut self,
        list: impl FnOnce(S::Handles<S>) -> Field<S, T, E>,
    ) -> Pipeline<M, With<S, Option<Element<T, E>>>>
    where
        E: Encode<T, Stored: Sequence<Element: FieldType>>,
    {
        let path = list(self.handles()).path().clone().required();
        self.add(names_only(&path).map(|path| vec![unwound(&path)]));
        self.with_value(path)
    }

    /// Computes a value for each document, which closures then receive beside it: `$set`. Later stages filter and sort by it.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "lines")]
    /// # struct Line { #[serde(rename = "_id")] id: i32, price: f64, quantity: i32 }
    /// let dearest = pipeline::<Line>()
    ///     .add_field(|l| l.price * l.quantity)
    ///     .sort(|(_, total)| total.desc())
    ///     .limit(3);
    /// assert_eq!(
    ///     dearest.to_stages()?[..2],
    ///     [
    ///         doc! {"$set": {"__value": {"$multiply": ["$price", "$quantity"]}}},
    ///         doc! {"$sort": {"__value": -1}},
    ///     ],
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn add_field<X>(
        mut self,
        value: impl FnOnce(S::Handles<S>) -> X,
    ) -> Pipeline<M, With<S, X::Value>>
    where
        X: IntoExpr<S, Value: FieldType>,
    {
        let value = value(self.handles()).into_expr().into_node();
        let mut path = self.new_field("value");
        if value.as_ref().is_ok_and(|value| value.missing().is_some()) {
            path = path.optional();
        }
        self.add(value.map(|value| vec![doc! {"$set": {path.to_string(): value.into_field()}}]));
        self.with_value(path)
    }

    /// Replaces each document by a document within it, or one that an expression makes: `$replaceWith`.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Line { sku: String, quantity: i32 }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "orders")]
    /// # struct Order { #[serde(rename = "_id")] id: i32, #[odm(embed(few, max = 100))] lines: Vec<Line> }
    /// let lines = pipeline::<Order>()
    ///     .unwind(|o| o.lines)
    ///     .replace_with(|(_, line)| line.expr())
    ///     .sort(|line| line.quantity.desc());
    /// assert_eq!(lines.to_stages()?[1], doc! {"$replaceWith": "$lines"});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn replace_with<X>(
        mut self,
        document: impl FnOnce(S::Handles<S>) -> X,
    ) -> Pipeline<M, X::Value>
    where
        X: IntoExpr<S, Value: Embedded>,
    {
        let document = document(self.handles()).into_expr().into_node();
        self.add(document.map(|document| vec![doc! {"$replaceWith": document.into_bson()}]));
        self.shaped(())
    }

    /// Makes a document of each element of a list, as [`unwind`](Self::unwind), and puts the position of the element beside it,
    /// from 0: `$unwind` with `includeArrayIndex`.
    ///
    /// ```
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, tags: Vec<String> }
    /// let first = pipeline::<Book>()
    ///     .unwind_with_position(|b| b.tags)
    ///     .match_(|((_, tag), position)| position.eq(0) & tag.ne("new"));
    /// assert_eq!(
    ///     first.to_stages()?[0],
    ///     doc! {"$unwind": {"path": "$tags", "includeArrayIndex": "__position"}},
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn unwind_with_position<T, E>(
        mut self,
        list: impl FnOnce(S::Handles<S>) -> Field<S, T, E>,
    ) -> Pipeline<M, With<Unwound<S, T, E>, i64>>
    where
        E: Encode<T, Stored: Sequence<Element: FieldType>>,
    {
        let path = list(self.handles()).path().clone().required();
        let position = self.new_field("position");
        let stage = |path| {
            let position = position.to_string();
            vec![doc! {"$unwind": {"path": format!("${path}"), "includeArrayIndex": position}}]
        };
        self.add(names_only(&path).map(stage));
        self.with_value(path).with_value(position)
    }

    /// Puts the documents into the order of their distance to a point, the nearest first, and the distance in metres beside
    /// each: `$geoNear`. It must be the first stage, and the field needs an index `"2dsphere"`.
    ///
    /// ```
    /// use odm::geo::Point;
    /// use odm::output;
    /// use odm::pipeline::pipeline;
    /// use odm::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "cafes", index(at = "2dsphere"))]
    /// struct Cafe {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     at: Point,
    ///     open: bool,
    /// }
    ///
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Near {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     metres: f64,
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let here = Point::new(13.4, 52.5)?;
    /// let near = pipeline::<Cafe>()
    ///     .geo_near(|c| c.at, here, ..=500.0)
    ///     .match_(|(c, _)| c.open.eq(true))
    ///     .limit(3)
    ///     .project(|(c, distance)| output!(Near { id: c.id, metres: distance }));
    /// assert_eq!(
    ///     near.to_stages()?[0],
    ///     doc! {"$geoNear": {
    ///         "near": {"type": "Point", "coordinates": [13.4, 52.5]},
    ///         "key": "at",
    ///         "distanceField": "__distance",
    ///         "spherical": true,
    ///         "maxDistance": 500.0,
    ///     }},
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn geo_near<T, E>(
        mut self,
        place: impl FnOnce(S::Handles<S>) -> Field<S, T, E>,
        point: Point,
        distances: impl Distances,
    ) -> Pipeline<M, With<S, f64>>
    where
        E: Encode<T, Stored: Geospatial>,
    {
        let place = place(self.handles());
        let path = self.new_field("distance");
        let stage = place.geo_near(point, distances, &path.to_string());
        let stage = stage.map_err(|error| Deferred::encode("", &error));
        self.add(stage.map(|stage| vec![stage]));
        self.with_value(path)
    }
}

/// The stage that makes a document of each element, or one without an element.
pub(crate) fn unwound(path: &str) -> Document {
    doc! {"$unwind": {"path": format!("${path}"), "preserveNullAndEmptyArrays": true}}
}
