//! The fields of one level of a document, gathered from a struct and all that is flattened into it.

use bson::{Bson, Document, doc};

/// The fields of one level.
pub(super) struct Members {
    properties: Document,
    names: Vec<&'static str>,
    required: Vec<Bson>,
    /// Names that only some variants of a flattened enum write.
    known: Vec<&'static str>,
    /// Shapes of flattened enums.
    all_of: Vec<Bson>,
    /// The schema of values under any other name, which a flattened map sets.
    others: Option<Document>,
    closed: bool,
    keeps_id: bool,
}

impl Members {
    /// Starts without fields; `closed` refuses undeclared ones.
    pub(super) fn new(closed: bool) -> Self {
        Self {
            properties: Document::new(),
            names: Vec::new(),
            required: Vec::new(),
            known: Vec::new(),
            all_of: Vec::new(),
            others: None,
            closed,
            keeps_id: false,
        }
    }

    /// Marks the level as a whole document, which has an `_id`, declared or not.
    pub(super) fn keep_id(&mut self) {
        self.keeps_id = true;
    }

    /// Adds a field; returns `false` if there already was one of that name.
    pub(super) fn add(&mut self, name: &'static str, schema: Document, required: bool) -> bool {
        if required {
            self.required.push(name.into());
        }
        self.names.push(name);
        self.properties.insert(name, schema).is_none()
    }

    /// Adds the alternatives of a flattened enum, whose fields have names from `known`.
    pub(super) fn add_alternatives(&mut self, branches: Vec<Bson>, known: Vec<&'static str>) {
        self.known.extend(known);
        if !branches.is_empty() {
            self.all_of.push(doc! {"anyOf": branches}.into());
        }
    }

    /// Allows values that match `schema` under any other name.
    pub(super) fn open(&mut self, schema: Document) {
        self.others = Some(match self.others.take() {
            // Two flattened maps share the level: a name may belong to either.
            Some(other) if other != schema => Document::new(),
            _ => schema,
        });
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Removes the schema of other names: a part of a level must not restrict the names of the whole.
    pub(super) fn take_others(&mut self) -> Option<Document> {
        self.others.take()
    }

    /// The names of the fields, including those of the variants of flattened enums.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().chain(&self.known).copied()
    }

    /// The schema of a document with these fields.
    pub(super) fn into_object(self) -> Document {
        let mut schema = doc! {"bsonType": "object"};
        schema.extend(self.into_keywords());
        schema
    }

    /// The keywords of the schema without `bsonType: "object"`, for a part of an object.
    pub(super) fn into_keywords(mut self) -> Document {
        let others = match self.others {
            Some(any) if any.is_empty() => None,
            Some(values) => Some(Bson::Document(values)),
            None if self.closed => Some(Bson::Boolean(false)),
            None => None,
        };
        if others.is_some() {
            let id = self.keeps_id.then_some("_id");
            for name in self.known.iter().copied().chain(id) {
                if !self.properties.contains_key(name) {
                    self.properties.insert(name, Document::new());
                }
            }
        }
        let mut schema = Document::new();
        if !self.required.is_empty() {
            schema.insert("required", self.required);
        }
        if !self.properties.is_empty() {
            schema.insert("properties", self.properties);
        }
        if let Some(others) = others {
            schema.insert("additionalProperties", others);
        }
        if !self.all_of.is_empty() {
            schema.insert("allOf", self.all_of);
        }
        schema
    }
}
