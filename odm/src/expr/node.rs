//! The tree of an expression, and the BSON that is sent.

use bson::{Bson, Document, doc};

/// An expression without its type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    /// A path or a variable: `$title`, `$$item.price`.
    Path(String),
    /// The path of a value that can be missing although its type does not say so.
    OptionalPath(String),
    /// A value.
    Literal(Bson),
    /// An expression that the user wrote.
    Raw(Bson),
    /// An array of expressions.
    Array(Vec<Node>),
    /// A document of expressions.
    Object(Vec<(String, Node)>),
    /// What an accumulator computes from the documents of a group.
    Accumulator(Box<Node>),
    /// An operator with its arguments.
    Call(&'static str, Arguments),
}

/// The arguments of an operator.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Arguments {
    /// `{$op: argument}`. An argument that is an array is wrapped: MongoDB reads `{$op: [x]}` as the argument `x`.
    One(Box<Node>),
    /// `{$op: [argument, …]}`
    List(Vec<Node>),
    /// `{$op: {name: argument, …}}`
    Named(Vec<(&'static str, Node)>),
}

impl Node {
    pub(crate) fn one(operator: &'static str, argument: Self) -> Self {
        Self::Call(operator, Arguments::One(Box::new(argument)))
    }

    pub(crate) fn list(operator: &'static str, arguments: impl IntoIterator<Item = Self>) -> Self {
        Self::Call(operator, Arguments::List(arguments.into_iter().collect()))
    }

    pub(crate) fn named(
        operator: &'static str,
        arguments: impl IntoIterator<Item = (&'static str, Self)>,
    ) -> Self {
        Self::Call(operator, Arguments::Named(arguments.into_iter().collect()))
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Literal(Bson::String(text.to_owned()))
    }

    /// Joins operators that take any number of arguments: `a + b + c` is one `$add`.
    pub(crate) fn joined(operator: &'static str, first: Self, second: Self) -> Self {
        match first {
            Self::Call(name, Arguments::List(mut arguments)) if name == operator => {
                arguments.push(second);
                Self::Call(name, Arguments::List(arguments))
            }
            first => Self::list(operator, [first, second]),
        }
    }

    /// The expression as MongoDB reads it.
    pub(crate) fn into_bson(self) -> Bson {
        match self {
            Self::Path(path) | Self::OptionalPath(path) => Bson::String(path),
            Self::Literal(value) => literal(value),
            Self::Raw(expression) => expression,
            Self::Array(items) => items.into_iter().map(Self::into_bson).collect(),
            Self::Object(fields) => object(fields, Self::into_field),
            Self::Accumulator(accumulator) => accumulator.into_bson(),
            Self::Call(operator, arguments) => {
                Bson::Document(doc! {operator: arguments.into_bson()})
            }
        }
    }

    /// The expression as a field of a stage, where a number or a `bool` by itself would include or exclude the field.
    pub(crate) fn into_field(self) -> Bson {
        match self {
            Self::Literal(
                value @ (Bson::Int32(_)
                | Bson::Int64(_)
                | Bson::Double(_)
                | Bson::Decimal128(_)
                | Bson::Boolean(_)),
            ) => Bson::Document(doc! {"$literal": value}),
            other => other.into_bson(),
        }
    }

    /// Replaces each accumulator by what `place` returns for it.
    pub(crate) fn replace_accumulators(self, place: &mut impl FnMut(Self) -> Self) -> Self {
        match self {
            Self::Accumulator(accumulator) => place(*accumulator),
            Self::Array(items) => Self::Array(replaced(items, place)),
            Self::Object(fields) => Self::Object(replaced_fields(fields, place)),
            Self::Call(operator, arguments) => {
                let arguments = match arguments {
                    Arguments::One(argument) => {
                        Arguments::One(Box::new(argument.replace_accumulators(place)))
                    }
                    Arguments::List(arguments) => Arguments::List(replaced(arguments, place)),
                    Arguments::Named(arguments) => {
                        Arguments::Named(replaced_fields(arguments, place))
                    }
                };
                Self::Call(operator, arguments)
            }
            other => other,
        }
    }
}

fn replaced(nodes: Vec<Node>, place: &mut impl FnMut(Node) -> Node) -> Vec<Node> {
    let nodes = nodes.into_iter();
    nodes.map(|node| node.replace_accumulators(place)).collect()
}

fn replaced_fields<N>(
    fields: Vec<(N, Node)>,
    place: &mut impl FnMut(Node) -> Node,
) -> Vec<(N, Node)> {
    let fields = fields.into_iter();
    fields
        .map(|(name, node)| (name, node.replace_accumulators(place)))
        .collect()
}

impl Arguments {
    fn into_bson(self) -> Bson {
        match self {
            Self::One(argument) => match argument.into_bson() {
                array @ Bson::Array(_) => Bson::Array(vec![array]),
                argument => argument,
            },
            Self::List(arguments) => arguments.into_iter().map(Node::into_bson).collect(),
            Self::Named(arguments) => object(arguments, Node::into_bson),
        }
    }
}

fn object<N: Into<String>>(fields: Vec<(N, Node)>, to_bson: fn(Node) -> Bson) -> Bson {
    let fields = fields.into_iter();
    let fields = fields.map(|(name, field)| (name.into(), to_bson(field)));
    Bson::Document(fields.collect::<Document>())
}

/// A value in an expression: as it is, or in a `$literal` where MongoDB would read a path or an operator in it.
fn literal(value: Bson) -> Bson {
    if stands_for_itself(&value) {
        value
    } else {
        Bson::Document(doc! {"$literal": value})
    }
}

fn stands_for_itself(value: &Bson) -> bool {
    match value {
        Bson::String(text) => !text.starts_with('$'),
        Bson::Array(items) => items.iter().all(stands_for_itself),
        // The keys of a document are paths there, and its dots are refused.
        Bson::Symbol(_) | Bson::Document(_) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use bson::bson;

    use super::*;

    #[test]
    fn literals_are_wrapped_where_mongod_would_read_more_in_them() {
        for (value, sent) in [
            (bson!(1), bson!(1)),
            (bson!("a$"), bson!("a$")),
            (bson!("$a"), bson!({"$literal": "$a"})),
            (bson!([1, "$a"]), bson!({"$literal": [1, "$a"]})),
            (bson!({"a": 1}), bson!({"$literal": {"a": 1}})),
        ] {
            assert_eq!(Node::Literal(value).into_bson(), sent);
        }
    }

    #[test]
    fn an_array_as_the_only_argument_is_wrapped() {
        let size = Node::one("$size", Node::Literal(bson!([1, 2])));
        assert_eq!(size.into_bson(), bson!({"$size": [[1, 2]]}));
    }
}
