//! Lists and maps.

use std::borrow::Cow;
use std::cell::Cell;

use bson::Bson;

use super::expression::{Expr, IntoExpr};
use super::kind::{Comparable, Condition, Listed, Mapped, Never, Nullness, Numeric, NumericKind};
use super::node::Node;
use super::operators;
use super::operators::Operator;
use crate::model::{FieldType, Path, Segment};

/// The type of a result of one list.
type Of<A, T> = <<A as Listed>::Null as Nullness>::Of<T>;
/// The typed fields of an element.
type ItemOf<S, A> = <<A as Listed>::Item as FieldType>::Handle<S, <A as Listed>::Item>;

thread_local! {
    /// How many closures over elements are running: each has a variable of its own.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Counts a closure, also one that panics.
struct Nested(usize);

impl Nested {
    fn enter() -> Self {
        let depth = DEPTH.get();
        DEPTH.set(depth + 1);
        Self(depth)
    }

    fn variable(&self) -> String {
        match self.0 {
            0 => "item".to_owned(),
            depth => format!("item{}", depth + 1),
        }
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        DEPTH.set(self.0);
    }
}

impl<S, A: Listed> Expr<S, A> {
    /// The number of elements: `$size`. That of null is an error of MongoDB, so a list that can be null needs a default first:
    /// `.or(literal(vec![]))`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let count = fields::<Book>().tags.expr().size();
    /// assert_eq!(count.to_bson()?, bson::bson!({"$size": "$tags"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn size(self) -> Expr<S, i32>
    where
        A: Listed<Null = Never>,
    {
        self.one(operators::SIZE.name)
    }

    /// The element at a position, which counts from 0, or from the end by a negative number: `$arrayElemAt`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { authors: Vec<String> }
    /// let second = fields::<Book>().authors.expr().at(1);
    /// assert_eq!(second.to_bson()?, bson::bson!({"$arrayElemAt": ["$authors", 1]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn at(self, position: i32) -> Expr<S, Option<A::Item>> {
        self.list(
            operators::ARRAY_ELEM_AT.name,
            [Ok(Node::Literal(position.into()))],
        )
    }

    /// The first element: `$first`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { authors: Vec<String> }
    /// let first = fields::<Book>().authors.expr().first_item();
    /// assert_eq!(first.to_bson()?, bson::bson!({"$first": "$authors"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn first_item(self) -> Expr<S, Option<A::Item>> {
        self.one(operators::FIRST.name)
    }

    /// The last element: `$last`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Account { balances: Vec<i64> }
    /// let now = fields::<Account>().balances.expr().last_item();
    /// assert_eq!(now.to_bson()?, bson::bson!({"$last": "$balances"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn last_item(self) -> Expr<S, Option<A::Item>> {
        self.one(operators::LAST.name)
    }

    /// The first elements, or with a negative number the last ones: `$slice`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Account { balances: Vec<i64> }
    /// let last = fields::<Account>().balances.expr().slice(-3);
    /// assert_eq!(last.to_bson()?, bson::bson!({"$slice": ["$balances", -3]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn slice(self, count: i32) -> Expr<S, Of<A, Vec<A::Item>>> {
        self.list(operators::SLICE.name, [Ok(Node::Literal(count.into()))])
    }

    /// The elements from the last to the first: `$reverseArray`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Account { balances: Vec<i64> }
    /// let newest_first = fields::<Account>().balances.expr().reversed();
    /// assert_eq!(newest_first.to_bson()?, bson::bson!({"$reverseArray": "$balances"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn reversed(self) -> Expr<S, Of<A, Vec<A::Item>>> {
        self.one(operators::REVERSE_ARRAY.name)
    }

    /// Whether an element equals the value: `$in`. A list that is null is an error of MongoDB.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { tags: Vec<String> }
    /// let is_classic = fields::<Book>().tags.expr().contains("classic");
    /// assert_eq!(is_classic.to_bson()?, bson::bson!({"$in": ["classic", "$tags"]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn contains<R>(self, value: R) -> Expr<S, bool>
    where
        A: Listed<Null = Never>,
        R: IntoExpr<S>,
        A::Item: Comparable<R::Value>,
    {
        let list = self.into_node();
        value.into_expr().list(operators::IN.name, [list])
    }

    /// Both lists, one behind the other: `$concatArrays`.
    ///
    /// ```
    /// # use odm::expr::literal;
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Test { quizzes: Vec<i32>, labs: Vec<i32> }
    /// let test = fields::<Test>();
    /// let scores = test.quizzes.expr().concat_list(test.labs);
    /// assert_eq!(scores.to_bson()?, bson::bson!({"$concatArrays": ["$quizzes", "$labs"]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn concat_list<R>(self, other: R) -> Expr<S, Vec<A::Item>>
    where
        A: Listed<Null = Never>,
        R: IntoExpr<S>,
        R::Value: Listed<Item = A::Item, Null = Never>,
    {
        self.two(operators::CONCAT_ARRAYS, other.into_expr())
    }

    /// The elements of either list, each once and in no certain order: `$setUnion`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Person { reads: Vec<String>, writes: Vec<String> }
    /// let person = fields::<Person>();
    /// let languages = person.reads.expr().union(person.writes);
    /// assert_eq!(languages.to_bson()?, bson::bson!({"$setUnion": ["$reads", "$writes"]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn union<R>(self, other: R) -> Expr<S, Vec<A::Item>>
    where
        A: Listed<Null = Never>,
        R: IntoExpr<S>,
        R::Value: Listed<Item = A::Item, Null = Never>,
    {
        self.two(operators::SET_UNION, other.into_expr())
    }

    /// The elements of both lists, each once and in no certain order: `$setIntersection`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Person { reads: Vec<String>, writes: Vec<String> }
    /// let person = fields::<Person>();
    /// let fluent = person.reads.expr().intersection(person.writes);
    /// assert_eq!(fluent.to_bson()?, bson::bson!({"$setIntersection": ["$reads", "$writes"]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn intersection<R>(self, other: R) -> Expr<S, Vec<A::Item>>
    where
        A: Listed<Null = Never>,
        R: IntoExpr<S>,
        R::Value: Listed<Item = A::Item, Null = Never>,
    {
        self.two(operators::SET_INTERSECTION, other.into_expr())
    }

    /// The elements that the other list lacks, each once and in no certain order: `$setDifference`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Course { required: Vec<String>, passed: Vec<String> }
    /// let course = fields::<Course>();
    /// let left = course.required.expr().difference(course.passed);
    /// assert_eq!(left.to_bson()?, bson::bson!({"$setDifference": ["$required", "$passed"]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn difference<R>(self, other: R) -> Expr<S, Vec<A::Item>>
    where
        A: Listed<Null = Never>,
        R: IntoExpr<S>,
        R::Value: Listed<Item = A::Item, Null = Never>,
    {
        self.two(operators::SET_DIFFERENCE, other.into_expr())
    }

    fn two<B, T>(self, operator: Operator, other: Expr<S, B>) -> Expr<S, T> {
        self.list(operator.name, [other.into_node()])
    }

    /// Computes a value from each element: `$map`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Line { price: f64, quantity: i32 }
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Order { #[odm(embed(few, max = 100))] lines: Vec<Line> }
    /// let total = fields::<Order>().lines.expr().map(|line| line.price * line.quantity).sum();
    /// assert_eq!(
    ///     total.to_bson()?,
    ///     bson::bson!({"$sum": {"$map": {
    ///         "input": "$lines",
    ///         "as": "item",
    ///         "in": {"$multiply": ["$$item.price", "$$item.quantity"]},
    ///     }}}),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn map<R>(self, value: impl FnOnce(ItemOf<S, A>) -> R) -> Expr<S, Of<A, Vec<R::Value>>>
    where
        A::Item: FieldType,
        R: IntoExpr<S>,
    {
        self.each(operators::MAP, "in", value)
    }

    /// The elements for which a condition holds: `$filter`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Test { scores: Vec<i32> }
    /// let passed = fields::<Test>().scores.expr().filter(|score| score.expr().gte(50));
    /// assert_eq!(
    ///     passed.to_bson()?,
    ///     bson::bson!({"$filter": {"input": "$scores", "as": "item", "cond": {"$gte": ["$$item", 50]}}}),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn filter<R>(
        self,
        condition: impl FnOnce(ItemOf<S, A>) -> R,
    ) -> Expr<S, Of<A, Vec<A::Item>>>
    where
        A::Item: FieldType,
        R: IntoExpr<S>,
        R::Value: Condition,
    {
        self.each(operators::FILTER, "cond", condition)
    }

    /// Whether a condition holds for at least one element: `$anyElementTrue` of a `$map`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Test { scores: Vec<i32> }
    /// let any = fields::<Test>().scores.expr().any(|score| score.expr().lt(50));
    /// assert_eq!(
    ///     any.to_bson()?,
    ///     bson::bson!({"$anyElementTrue": [
    ///         {"$map": {"input": "$scores", "as": "item", "in": {"$lt": ["$$item", 50]}}},
    ///     ]}),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn any<R>(self, condition: impl FnOnce(ItemOf<S, A>) -> R) -> Expr<S, bool>
    where
        A: Listed<Null = Never>,
        A::Item: FieldType,
        R: IntoExpr<S>,
        R::Value: Condition,
    {
        let held: Expr<S, Vec<bool>> = self.each(operators::MAP, "in", condition);
        held.list(operators::ANY_ELEMENT_TRUE.name, [])
    }

    /// Whether a condition holds for all elements: `$allElementsTrue` of a `$map`.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Test { scores: Vec<i32> }
    /// let all = fields::<Test>().scores.expr().all(|score| score.expr().gte(50));
    /// assert_eq!(
    ///     all.to_bson()?,
    ///     bson::bson!({"$allElementsTrue": [
    ///         {"$map": {"input": "$scores", "as": "item", "in": {"$gte": ["$$item", 50]}}},
    ///     ]}),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn all<R>(self, condition: impl FnOnce(ItemOf<S, A>) -> R) -> Expr<S, bool>
    where
        A: Listed<Null = Never>,
        A::Item: FieldType,
        R: IntoExpr<S>,
        R::Value: Condition,
    {
        let held: Expr<S, Vec<bool>> = self.each(operators::MAP, "in", condition);
        held.list(operators::ALL_ELEMENTS_TRUE.name, [])
    }

    /// `{operator: {input: self, as: variable, name: closure(variable)}}`
    fn each<R, T>(
        self,
        operator: Operator,
        name: &'static str,
        closure: impl FnOnce(ItemOf<S, A>) -> R,
    ) -> Expr<S, T>
    where
        A::Item: FieldType,
        R: IntoExpr<S>,
    {
        let nested = Nested::enter();
        let variable = nested.variable();
        let path = Path::root().then(Segment::Name(Cow::Owned(format!("$${variable}"))));
        let result = closure(<A::Item as FieldType>::handle(path)).into_expr();
        drop(nested);
        let variable = Ok(Node::Literal(Bson::String(variable)));
        self.named(
            operator.name,
            "input",
            [("as", variable), (name, result.into_node())],
        )
    }
}

impl<S, A> Expr<S, A>
where
    A: Listed,
    A::Item: Numeric,
{
    /// The sum of the elements that are numbers: `$sum`. It is 0 for an empty list and for null.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Test { scores: Vec<i32> }
    /// let total = fields::<Test>().scores.expr().sum();
    /// assert_eq!(total.to_bson()?, bson::bson!({"$sum": "$scores"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn sum(self) -> Expr<S, <<A::Item as Numeric>::Kind as NumericKind>::Sum> {
        self.one(operators::SUM.name)
    }

    /// The average of the elements that are numbers: `$avg`. It is null for an empty list.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Test { scores: Vec<i32> }
    /// let mean = fields::<Test>().scores.expr().avg().or(0.0);
    /// assert_eq!(mean.to_bson()?, bson::bson!({"$ifNull": [{"$avg": "$scores"}, 0.0]}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn avg(self) -> Expr<S, Option<<<A::Item as Numeric>::Kind as NumericKind>::Real>> {
        self.one(operators::AVG.name)
    }
}

impl<S, A: Listed> Expr<S, A> {
    /// The least element: `$min`. It is null for an empty list.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Test { scores: Vec<i32> }
    /// let worst = fields::<Test>().scores.expr().min_item();
    /// assert_eq!(worst.to_bson()?, bson::bson!({"$min": "$scores"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn min_item(self) -> Expr<S, Option<A::Item>> {
        self.one(operators::MIN.name)
    }

    /// The greatest element: `$max`. It is null for an empty list.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Test { scores: Vec<i32> }
    /// let best = fields::<Test>().scores.expr().max_item();
    /// assert_eq!(best.to_bson()?, bson::bson!({"$max": "$scores"}));
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn max_item(self) -> Expr<S, Option<A::Item>> {
        self.one(operators::MAX.name)
    }
}

impl<S, A: Mapped> Expr<S, A> {
    /// The value of a key: `$getField`, since MongoDB 5.0. The key may have any characters.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # use odm::query::fields;
    /// # use std::collections::BTreeMap;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Book { prices: BTreeMap<String, f64> }
    /// let price = fields::<Book>().prices.expr().get("eu.west");
    /// assert_eq!(
    ///     price.to_bson()?,
    ///     bson::bson!({"$getField": {"input": "$prices", "field": "eu.west"}}),
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn get(self, key: &str) -> Expr<S, Option<A::Item>> {
        let key = Ok(Node::text(key));
        self.named(operators::GET_FIELD.name, "input", [("field", key)])
    }
}
