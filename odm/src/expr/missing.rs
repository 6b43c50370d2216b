//! Values that can be missing although their types do not say so: they are in an `Option`, in one of several variants, or in a
//! map.

use super::Expr;
use super::node::{Arguments, Node};
use super::operators::{self, Operator};

/// The operators whose results are there for null and missing arguments, too, or that fail for them.
const ALWAYS: &[Operator] = &[
    operators::EQ,
    operators::NE,
    operators::GT,
    operators::GTE,
    operators::LT,
    operators::LTE,
    operators::AND,
    operators::OR,
    operators::NOT,
    operators::TYPE,
    operators::STR_LEN_CP,
    operators::REGEX_MATCH,
    operators::SIZE,
    operators::IN,
    operators::ANY_ELEMENT_TRUE,
    operators::ALL_ELEMENTS_TRUE,
    operators::SUM,
];

impl Node {
    /// The first path because of which the value can be missing, or a list can have null in it.
    pub(crate) fn missing(&self) -> Option<&str> {
        match self {
            Self::OptionalPath(path) => Some(path),
            // The fields of an output are checked one by one.
            Self::Path(_) | Self::Literal(_) | Self::Raw(_) | Self::Object(_) => None,
            Self::Array(items) => items.iter().find_map(Self::missing),
            Self::Accumulator(accumulator) => accumulator.missing(),
            Self::Call(operator, arguments) => arguments.missing(operator),
        }
    }

    /// The same expression, whose paths are never missing.
    fn required(self) -> Self {
        let all = |nodes: Vec<Self>| nodes.into_iter().map(Self::required).collect();
        match self {
            Self::OptionalPath(path) => Self::Path(path),
            Self::Array(items) => Self::Array(all(items)),
            Self::Accumulator(accumulator) => Self::Accumulator(Box::new(accumulator.required())),
            Self::Call(operator, arguments) => {
                let arguments = match arguments {
                    Arguments::One(argument) => Arguments::One(Box::new(argument.required())),
                    Arguments::List(arguments) => Arguments::List(all(arguments)),
                    Arguments::Named(arguments) => {
                        let arguments = arguments.into_iter();
                        let arguments = arguments.map(|(name, node)| (name, node.required()));
                        Arguments::Named(arguments.collect())
                    }
                };
                Self::Call(operator, arguments)
            }
            // A branch of a `$switch`, or an output.
            Self::Object(fields) => {
                let fields = fields.into_iter();
                Self::Object(fields.map(|(name, node)| (name, node.required())).collect())
            }
            other @ (Self::Path(_) | Self::Literal(_) | Self::Raw(_)) => other,
        }
    }
}

impl Arguments {
    fn missing(&self, operator: &str) -> Option<&str> {
        if ALWAYS.iter().any(|always| always.name == operator) {
            return None;
        }
        match self {
            // A group leaves out what is missing.
            Self::One(argument)
                if matches!(operator, "$push" | "$addToSet")
                    && matches!(**argument, Node::OptionalPath(_)) =>
            {
                None
            }
            Self::One(argument) => argument.missing(),
            // The value is the last one where the others are null.
            Self::List(arguments) if operator == operators::IF_NULL.name => {
                arguments.last().and_then(Node::missing)
            }
            Self::List(arguments) => {
                let conditions = usize::from(operator == operators::COND.name);
                arguments.iter().skip(conditions).find_map(Node::missing)
            }
            Self::Named(arguments) => {
                let mut arguments = arguments.iter();
                arguments.find_map(|(name, argument)| match (*name, argument) {
                    ("cond", _) => None,
                    ("branches", Node::Array(branches)) => branches.iter().find_map(Node::branch),
                    (_, argument) => argument.missing(),
                })
            }
        }
    }
}

impl Node {
    /// The path because of which the value of a branch of a `$switch` can be missing.
    fn branch(&self) -> Option<&str> {
        let Self::Object(parts) = self else {
            return None;
        };
        let mut parts = parts.iter();
        parts.find_map(|(name, part)| (name == "then").then(|| part.missing()).flatten())
    }
}

impl<S, T> Expr<S, T> {
    /// The value as one that can be missing: an `Option`.
    ///
    /// A field inside an `Option`, in a variant of an enum, or of a document that
    /// [`lookup_or_none`](crate::pipeline::Pipeline::lookup_or_none) did not find has its declared type, and can be missing
    /// all the same. An output refuses it for a field that can't be null.
    ///
    /// ```
    /// # use odm::output;
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Address { city: String }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "customers")]
    /// # struct Customer { #[serde(rename = "_id")] id: i32, address: Option<Address> }
    /// #[derive(Serialize, Deserialize, Embedded)]
    /// struct Label {
    ///     city: String,
    /// }
    ///
    /// let refused = pipeline::<Customer>().project(|c| output!(Label { city: c.address.city }));
    /// assert!(refused.to_stages().is_err());
    ///
    /// let labels = pipeline::<Customer>()
    ///     .project(|c| output!(Label { city: c.address.city.expr().optional().or("unknown") }));
    /// assert_eq!(
    ///     labels.to_stages()?,
    ///     [doc! {"$project": {"_id": 0, "city": {"$ifNull": ["$address.city", "unknown"]}}}],
    /// );
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn optional(self) -> Expr<S, Option<T>> {
        self.required().with_type()
    }

    /// The value as one that is there, because a stage before has left out the documents without it.
    ///
    /// It is read as null where it is missing all the same, which is an error for a field that can't be null. See
    /// [`optional`](Self::optional).
    ///
    /// ```
    /// # use odm::output;
    /// # use odm::pipeline::pipeline;
    /// # use odm::prelude::*;
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Address { city: String }
    /// # #[derive(Serialize, Deserialize, Document)]
    /// # #[odm(collection = "customers")]
    /// # struct Customer { #[serde(rename = "_id")] id: i32, address: Option<Address> }
    /// # #[derive(Serialize, Deserialize, Embedded)]
    /// # struct Label { city: String }
    /// let labels = pipeline::<Customer>()
    ///     .match_(|c| c.address.city.exists(true))
    ///     .project(|c| output!(Label { city: c.address.city.expr().required() }));
    /// assert_eq!(labels.to_stages()?[1], doc! {"$project": {"_id": 0, "city": "$address.city"}});
    /// # Ok::<(), odm::Error>(())
    /// ```
    pub fn required(self) -> Self {
        Self::from_node(self.into_node().map(Node::required))
    }
}
