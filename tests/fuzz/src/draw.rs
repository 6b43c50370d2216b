//! BSON out of a fuzzer's choices.

mod values;

use arbitrary::Unstructured;
use odm::bson::{Bson, Document, doc};

use crate::words::{
    ARGUMENTS, COLLATION, COMMANDS, FIELDS, INNER, MODIFIERS, NAMES, PATHS, REFERENCES, SCHEMA,
    STRINGS, TYPES, UPDATES,
};

/// The fuzzer's bytes, read as choices. When they end, every choice is the first.
#[derive(Debug)]
pub struct Draw<'a> {
    bytes: Unstructured<'a>,
}

/// How deep values are drawn; a wrapping may make them deeper.
const DEPTH: usize = 6;

impl<'a> Draw<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self {
            bytes: Unstructured::new(data),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.bytes
            .int_in_range(0..=end.saturating_sub(1))
            .unwrap_or(0)
    }

    pub fn one_in(&mut self, times: usize) -> bool {
        !self.is_empty() && self.below(times) == times - 1
    }

    pub fn pick<'t>(&mut self, words: &[&'t str]) -> &'t str {
        words[self.below(words.len())]
    }

    fn name<'t>(&mut self, names: &'t [String]) -> &'t str {
        &names[self.below(names.len())]
    }

    fn list(&mut self, depth: usize, mut one: impl FnMut(&mut Self, usize) -> Bson) -> Bson {
        let mut list = Vec::new();
        for _ in 0..self.below(4) {
            list.push(one(self, depth.saturating_sub(1)));
        }
        Bson::Array(list)
    }

    fn fields(
        &mut self,
        depth: usize,
        mut key: impl FnMut(&mut Self) -> String,
        mut one: impl FnMut(&mut Self, usize) -> Bson,
    ) -> Document {
        let mut document = Document::new();
        for _ in 0..self.below(4) {
            let key = key(self);
            let value = one(self, depth.saturating_sub(1));
            document.insert(key, value);
        }
        document
    }

    /// Plain data.
    pub fn value(&mut self, depth: usize) -> Bson {
        match self.below(if depth == 0 { 3 } else { 5 }) {
            3 => self
                .fields(depth, |d| d.pick(PATHS).to_owned(), Self::value)
                .into(),
            4 => self.list(depth, Self::value),
            _ => self.leaf(),
        }
    }

    /// Any of the words that mean something somewhere, over any values.
    fn anything(&mut self, depth: usize) -> Bson {
        if depth == 0 {
            return self.leaf();
        }
        let word = |d: &mut Self| -> String {
            let words = [
                INNER, MODIFIERS, ARGUMENTS, SCHEMA, &FIELDS, UPDATES, COLLATION, PATHS,
            ];
            let words = words[d.below(words.len())];
            d.pick(words).to_owned()
        };
        match self.below(6) {
            0 => self.leaf(),
            1 => self.list(depth, Self::anything),
            2 => self.filter(depth - 1).into(),
            3 => self.expression(depth - 1),
            _ => self.fields(depth, word, Self::anything).into(),
        }
    }

    pub fn filter(&mut self, depth: usize) -> Document {
        let mut filter = Document::new();
        for _ in 0..self.below(3) + 1 {
            let (key, value) = match self.below(10) {
                0 if depth > 0 => (
                    self.pick(&["$and", "$or", "$nor"]).to_owned(),
                    self.list(depth, |d, depth| d.filter(depth).into()),
                ),
                1 => ("$expr".to_owned(), self.expression(depth)),
                2 => ("$jsonSchema".to_owned(), self.schema(depth).into()),
                3 => (
                    self.name(&NAMES.filters).to_owned(),
                    self.anything(depth.saturating_sub(1)),
                ),
                4 => (self.pick(PATHS).to_owned(), self.value(depth)),
                _ => (self.pick(PATHS).to_owned(), self.condition(depth)),
            };
            filter.insert(key, value);
        }
        filter
    }

    /// What stands for a field in a filter.
    fn condition(&mut self, depth: usize) -> Bson {
        let mut operators = Document::new();
        for _ in 0..self.below(3) + 1 {
            let depth = depth.saturating_sub(1);
            let name = self.name(&NAMES.filters).to_owned();
            let operand = match name.as_str() {
                _ if self.one_in(8) => self.anything(depth),
                "$elemMatch" | "$not" if depth > 0 => match self.below(2) {
                    0 => self.filter(depth).into(),
                    _ => self.condition(depth),
                },
                "$in" | "$nin" => self.list(depth, Self::value),
                "$all" => self.list(depth, Self::anything),
                "$regex" => {
                    if self.one_in(2) {
                        operators.insert("$options", self.text());
                    }
                    self.pattern().into()
                }
                "$type" => self.pick(TYPES).into(),
                "$mod" => Bson::Array(vec![self.leaf(), self.leaf()]),
                "$geoWithin" | "$geoIntersects" | "$near" | "$nearSphere" => self.geometry(depth),
                _ => self.value(depth),
            };
            operators.insert(name, operand);
        }
        operators.into()
    }

    fn geometry(&mut self, depth: usize) -> Bson {
        let kind = self.pick(&[
            "Point",
            "LineString",
            "Polygon",
            "MultiPoint",
            "MultiPolygon",
            "GeometryCollection",
        ]);
        let coordinates = self.coordinates(depth.min(4));
        match self.below(5) {
            0 => doc! { self.pick(INNER): self.coordinates(3), "$maxDistance": self.leaf() }.into(),
            1 => coordinates,
            2 => self.anything(depth),
            _ => {
                doc! { "$geometry": { "type": kind, "coordinates": coordinates }, "$maxDistance": self.leaf() }.into()
            }
        }
    }

    fn coordinates(&mut self, depth: usize) -> Bson {
        if depth == 0 || self.one_in(3) {
            return Bson::Array(vec![
                Bson::Double(self.double()),
                Bson::Double(self.double()),
            ]);
        }
        let mut list = Vec::new();
        for _ in 0..self.below(6) {
            list.push(self.coordinates(depth - 1));
        }
        if let (true, Some(first)) = (self.one_in(2), list.first().cloned()) {
            list.push(first);
        }
        Bson::Array(list)
    }

    pub fn expression(&mut self, depth: usize) -> Bson {
        if depth == 0 {
            return match self.below(3) {
                0 => self.leaf(),
                _ => self.pick(REFERENCES).into(),
            };
        }
        let below = depth - 1;
        match self.below(12) {
            0 => self.leaf(),
            1 => self.pick(REFERENCES).into(),
            2 => self.list(depth, Self::expression),
            3 => self
                .fields(depth, |d| d.pick(PATHS).to_owned(), Self::expression)
                .into(),
            _ => {
                let name = self.name(&NAMES.expressions).to_owned();
                let argument = match self.below(8) {
                    0 => self.expression(below),
                    1 => self.anything(below),
                    2 | 3 => self
                        .fields(depth, |d| d.pick(ARGUMENTS).to_owned(), Self::expression)
                        .into(),
                    4 => doc! {
                        "input": self.expression(below), "in": self.expression(below), "as": "x",
                        "cond": self.expression(below), "initialValue": self.expression(below),
                    }
                    .into(),
                    _ => self.list(depth, Self::expression),
                };
                doc! { name: self.shaped(argument) }.into()
            }
        }
    }

    /// Drops and adds arguments now and then.
    fn shaped(&mut self, mut argument: Bson) -> Bson {
        if let Bson::Document(document) = &mut argument {
            for name in ["initialValue", "cond", "in"] {
                if self.one_in(2) {
                    document.remove(name);
                }
            }
        }
        argument
    }

    pub fn schema(&mut self, depth: usize) -> Document {
        let mut schema = Document::new();
        for _ in 0..self.below(4) + 1 {
            let below = depth.saturating_sub(1);
            let word = self.pick(SCHEMA);
            let value = match word {
                _ if depth == 0 || self.one_in(8) => self.leaf(),
                "properties" | "patternProperties" | "dependencies" => self
                    .fields(
                        below,
                        |d| match d.below(2) {
                            0 => d.pick(PATHS).to_owned(),
                            _ => d.pattern(),
                        },
                        |d, depth| d.schema(depth).into(),
                    )
                    .into(),
                "allOf" | "anyOf" | "oneOf" => self.list(below, |d, depth| d.schema(depth).into()),
                "not" | "items" | "additionalItems" | "additionalProperties" => match self.below(3)
                {
                    0 => Bson::Boolean(self.one_in(2)),
                    1 => self.list(below, |d, depth| d.schema(depth).into()),
                    _ => self.schema(below).into(),
                },
                "type" | "bsonType" => match self.below(2) {
                    0 => self.pick(TYPES).into(),
                    _ => self.list(0, |d, _| d.pick(TYPES).into()),
                },
                "required" => self.list(0, |d, _| d.pick(PATHS).into()),
                "enum" => self.list(below, Self::value),
                "pattern" => self.pattern().into(),
                _ => self.leaf(),
            };
            schema.insert(word, value);
        }
        schema
    }

    pub fn update(&mut self) -> Bson {
        match self.below(8) {
            0 => self.pipeline(DEPTH),
            1 => self.value(DEPTH),
            _ => self.operators().into(),
        }
    }

    /// An update of operators.
    pub fn operators(&mut self) -> Document {
        let mut update = Document::new();
        for _ in 0..self.below(3) + 1 {
            let name = self.pick(UPDATES);
            let fields = self.fields(
                DEPTH,
                |d| d.pick(PATHS).to_owned(),
                |d, depth| match d.below(3) {
                    0 => d
                        .fields(
                            depth,
                            |d| d.pick(MODIFIERS).to_owned(),
                            |d, depth| match d.below(3) {
                                0 => d.list(depth, Self::value),
                                1 => d.value(depth),
                                _ => d.leaf(),
                            },
                        )
                        .into(),
                    1 if name == "$pull" => d.filter(depth.min(3)).into(),
                    _ => d.value(depth.min(3)),
                },
            );
            update.insert(name, fields);
        }
        update
    }

    /// An array filter, mostly of `e`.
    pub fn array_filter(&mut self) -> Document {
        let name = |key: String| match key.starts_with('$') {
            true => key,
            false => format!("e.{key}"),
        };
        let filter = self.filter(2).into_iter();
        filter.map(|(key, value)| (name(key), value)).collect()
    }

    pub fn pipeline(&mut self, depth: usize) -> Bson {
        let mut stages = Vec::new();
        for _ in 0..self.below(4) + 1 {
            stages.push(self.stage(depth).into());
        }
        Bson::Array(stages)
    }

    fn group(&mut self, depth: usize) -> Document {
        let mut group = doc! { "_id": self.expression(depth) };
        for name in ["x", "y", "a.b"] {
            if self.one_in(2) {
                continue;
            }
            let accumulator = self.name(&NAMES.accumulators).to_owned();
            let argument = match self.below(3) {
                0 => self.expression(depth),
                1 => doc! { "n": self.expression(1), "input": self.expression(depth) }.into(),
                _ => doc! {
                    "n": self.expression(1), "output": self.expression(depth), "sortBy": { "a": 1 },
                }
                .into(),
            };
            group.insert(name, doc! { accumulator: argument });
        }
        group
    }

    pub fn stage(&mut self, depth: usize) -> Document {
        let below = depth.saturating_sub(1);
        let name = self.name(&NAMES.stages).to_owned();
        let shape = |d: &mut Self| d.fields(depth, |d| d.pick(PATHS).to_owned(), Self::expression);
        let option = |d: &mut Self, depth: usize| match d.below(6) {
            0 => d.pipeline(depth.min(2)),
            1 => d.expression(depth),
            2 => d.anything(depth),
            3 => d.pick(PATHS).into(),
            _ => d.leaf(),
        };
        let spec: Bson = match name.as_str() {
            _ if self.one_in(10) => self.anything(depth),
            "$match" => self.filter(depth).into(),
            "$project" | "$addFields" | "$set" | "$replaceRoot" => match self.below(3) {
                0 => self.projection(depth).into(),
                1 => doc! { "newRoot": self.expression(depth) }.into(),
                _ => shape(self).into(),
            },
            "$replaceWith" | "$sortByCount" | "$redact" => self.expression(depth),
            "$group" => self.group(below).into(),
            "$limit" | "$skip" => self.leaf(),
            "$sort" => self.sort().into(),
            "$sample" => doc! { "size": self.leaf() }.into(),
            "$unset" | "$unwind" | "$count" => self.text().into(),
            "$facet" if depth > 1 => {
                doc! { "x": self.pipeline(depth - 2), "y": self.pipeline(depth - 2) }.into()
            }
            "$lookup" if depth > 1 => {
                let mut lookup = doc! { "from": self.pick(&["c", "d", "none"]), "as": self.pick(PATHS) };
                if self.one_in(2) {
                    lookup.insert("pipeline", self.pipeline(depth - 2));
                }
                if self.one_in(2) {
                    lookup.insert("let", doc! { "x": self.expression(1) });
                }
                if self.one_in(2) {
                    lookup.insert("localField", self.pick(PATHS));
                    lookup.insert("foreignField", self.pick(PATHS));
                }
                lookup.into()
            }
            "$graphLookup" => doc! {
                "from": "c", "startWith": self.expression(1), "connectFromField": self.pick(PATHS),
                "connectToField": self.pick(PATHS), "as": self.pick(PATHS), "maxDepth": self.leaf(),
                "restrictSearchWithMatch": self.filter(1),
            }
            .into(),
            "$unionWith" if depth > 1 => doc! { "coll": "c", "pipeline": self.pipeline(depth - 2) }.into(),
            "$bucket" => doc! {
                "groupBy": self.expression(1), "boundaries": self.list(1, Self::value), "default": self.leaf(),
                "output": self.group(1),
            }
            .into(),
            "$bucketAuto" => doc! { "groupBy": self.expression(1), "buckets": self.leaf() }.into(),
            "$merge" => doc! {
                "into": self.pick(&["c", "d"]), "on": self.pick(PATHS),
                "whenMatched": self.pick(STRINGS), "whenNotMatched": self.pick(STRINGS),
            }
            .into(),
            _ => self.fields(depth, |d| d.pick(ARGUMENTS).to_owned(), option).into(),
        };
        doc! { name: spec }
    }

    pub fn projection(&mut self, depth: usize) -> Document {
        self.fields(
            depth,
            |d| d.pick(PATHS).to_owned(),
            |d, depth| match d.below(8) {
                0..=2 => Bson::Int32(d.below(2) as i32),
                3 => doc! { "$slice": d.list(0, |d, _| d.leaf()) }.into(),
                4 => doc! { "$slice": d.leaf() }.into(),
                5 => doc! { "$elemMatch": d.filter(depth.min(2)) }.into(),
                6 => doc! { "$meta": d.text() }.into(),
                _ => d.expression(depth),
            },
        )
    }

    pub fn sort(&mut self) -> Document {
        self.fields(
            1,
            |d| d.pick(PATHS).to_owned(),
            |d, _| match d.below(5) {
                0 => d.leaf(),
                1 => doc! { "$meta": "textScore" }.into(),
                2 => Bson::Int32(1),
                _ => Bson::Int32(-1),
            },
        )
    }

    pub fn collation(&mut self) -> Document {
        let mut collation = doc! { "locale": self.pick(STRINGS) };
        collation.extend(self.fields(1, |d| d.pick(COLLATION).to_owned(), |d, _| d.leaf()));
        collation
    }

    pub fn index(&mut self) -> Document {
        let mut index = doc! { "name": self.text() };
        let key = self.fields(
            1,
            |d| d.pick(PATHS).to_owned(),
            |d, _| match d.below(4) {
                0 => d
                    .pick(&["text", "hashed", "2dsphere", "2d", "geoHaystack"])
                    .into(),
                1 => d.leaf(),
                2 => Bson::Int32(-1),
                _ => Bson::Int32(1),
            },
        );
        index.insert("key", key);
        match self.below(6) {
            0 => drop(index.insert("unique", true)),
            1 => drop(index.insert("partialFilterExpression", self.filter(3))),
            2 => drop(index.insert("collation", self.collation())),
            3 => drop(index.insert("expireAfterSeconds", self.leaf())),
            4 => drop(index.insert("wildcardProjection", self.projection(2))),
            _ => {}
        }
        index
    }

    /// A command; a statement of one, such as of `updates`, is drawn with it.
    pub fn command(&mut self) -> Document {
        let name = match self.below(8) {
            0 => self.name(&NAMES.commands).to_owned(),
            _ => self.pick(&COMMANDS).to_owned(),
        };
        let target = match self.below(6) {
            0 => self.leaf(),
            1 => "d".into(),
            2 if name == "explain" => self.command_of("find").into(),
            3 if name == "explain" => self.command_of("aggregate").into(),
            _ => "c".into(),
        };
        let mut command = self.command_of(&name);
        command.insert(name, target);
        command
    }

    fn command_of(&mut self, name: &str) -> Document {
        let mut command = doc! { name: "c" };
        match name {
            "aggregate" => {
                command.insert("pipeline", self.pipeline(4));
                command.insert("cursor", doc! {});
            }
            "insert" => drop(command.insert("documents", self.list(4, Self::value))),
            "update" => drop(command.insert(
                "updates",
                vec![doc! {
                    "q": self.filter(3), "u": self.update(), "multi": self.one_in(2), "upsert": self.one_in(2),
                }],
            )),
            "delete" => drop(command.insert("deletes", vec![doc! { "q": self.filter(3), "limit": self.leaf() }])),
            "createIndexes" => drop(command.insert("indexes", vec![self.index()])),
            "findAndModify" => {
                command.insert("query", self.filter(3));
                command.insert("update", self.update());
            }
            "distinct" => drop(command.insert("key", self.pick(PATHS))),
            _ => {}
        }
        for _ in 0..self.below(4) {
            let field = self.pick(&FIELDS);
            let value = match field {
                _ if self.one_in(4) => self.anything(3),
                "filter" | "query" | "q" | "validator" => self.filter(4).into(),
                "sort" | "hint" | "key" => self.sort().into(),
                "projection" | "fields" | "wildcardProjection" => self.projection(3).into(),
                "collation" => self.collation().into(),
                "pipeline" => self.pipeline(3),
                "arrayFilters" => self.list(3, |d, depth| d.filter(depth).into()),
                "updates" | "deletes" | "documents" | "indexes" => self.list(3, Self::anything),
                _ => self.leaf(),
            };
            command.insert(field, value);
        }
        command
    }

    /// The value inside as many documents or arrays as drawn: mostly none, seldom more than the door lets in.
    pub fn wrapped(&mut self, value: Bson, wrap: impl Fn(Bson) -> Bson) -> Bson {
        let times = if self.one_in(16) { self.below(190) } else { 0 };
        (0..times).fold(value, |value, _| wrap(value))
    }
}
