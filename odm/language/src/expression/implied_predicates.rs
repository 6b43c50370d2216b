//! The comparisons of single fields that a true expression implies, so that an index can narrow an `$expr`.

use bson::raw::{RawBson, RawBsonRef};

use crate::expression::ast::{Form, Node};
use crate::expression::eval::Env;
use crate::expression::{Expression, Globals};
use crate::value::raw;

/// A condition that holds for every document for which the expression is true; it may hold for others.
#[derive(Debug, Clone, PartialEq)]
pub enum Implied {
    All(Vec<Self>),
    Any(Vec<Self>),
    /// A comparison of a field with a constant, by the rules of expressions: `$eq`, `$gt`, `$gte`, `$lt` or `$lte`.
    Field {
        path: String,
        operator: &'static str,
        value: RawBson,
    },
}

impl Expression {
    /// The comparisons of fields with constants that the expression implies, for the current values of the variables.
    pub fn implied(&self, globals: &Globals) -> Option<Implied> {
        implied(&self.0, globals)
    }
}

fn implied(node: &Node, globals: &Globals) -> Option<Implied> {
    match node {
        Node::Call {
            operator,
            arguments,
            ..
        } => match arguments.as_slice() {
            [Some(left), Some(right)] => comparison(operator.name, left, right, globals),
            _ => None,
        },
        Node::Form(form) => match &**form {
            Form::And(nodes, _) => {
                let all: Vec<_> = nodes
                    .iter()
                    .filter_map(|node| implied(node, globals))
                    .collect();
                (!all.is_empty()).then_some(Implied::All(all))
            }
            Form::Or(nodes, _) => {
                let any = nodes
                    .iter()
                    .filter(|node| !is_false(node, globals))
                    .map(|node| implied(node, globals))
                    .collect::<Option<Vec<_>>>()?;
                (!any.is_empty()).then_some(Implied::Any(any))
            }
            _ => None,
        },
        _ => None,
    }
}

fn comparison(name: &str, left: &Node, right: &Node, globals: &Globals) -> Option<Implied> {
    let (as_written, turned) = match name {
        "$eq" => ("$eq", "$eq"),
        "$gt" => ("$gt", "$lt"),
        "$gte" => ("$gte", "$lte"),
        "$lt" => ("$lt", "$gt"),
        "$lte" => ("$lte", "$gte"),
        _ => return None,
    };
    let (path, constant, operator) = match (field(left, globals), field(right, globals)) {
        (Some(path), None) => (path, right, as_written),
        (None, Some(path)) => (path, left, turned),
        _ => return None,
    };
    let value = constant_value(constant, globals)?;
    // Comparisons with arrays and missing values are left out.
    let is_kept = !matches!(
        value.as_raw_bson_ref(),
        RawBsonRef::Array(_) | RawBsonRef::Undefined
    );
    is_kept.then_some(Implied::Field {
        path,
        operator,
        value,
    })
}

/// The path of a field of the document.
fn field(node: &Node, globals: &Globals) -> Option<String> {
    match node {
        Node::Field(path) => Some(path.join(".")),
        Node::Variable(name, path)
            if matches!(name.as_str(), "ROOT" | "CURRENT")
                && !path.is_empty()
                && globals.variable(name).is_none() =>
        {
            Some(path.join("."))
        }
        _ => None,
    }
}

fn constant_value(node: &Node, globals: &Globals) -> Option<RawBson> {
    let env = Env::new(raw::empty_document(), globals);
    // Constants that fail were refused before.
    node.constant(&env, &[]).ok()??.into_owned()
}

fn is_false(node: &Node, globals: &Globals) -> bool {
    let env = Env::new(raw::empty_document(), globals);
    matches!(node.constant(&env, &[]), Ok(Some(value)) if !value.truthy())
}

#[cfg(test)]
mod tests {
    use bson::raw::{RawBson, RawBsonRef, RawDocumentBuf};
    use bson::{DateTime, rawdoc};

    use super::Implied;
    use crate::expression::{Expression, Globals};

    fn implied(expression: &RawDocumentBuf) -> Option<Implied> {
        let globals = Globals::new(DateTime::from_millis(0))
            .with_variable("x", RawBson::Int32(2))
            .with_binding("none", None);
        let raw = RawBsonRef::Document(expression);
        let expression = Expression::parse(raw, &globals.scope()).unwrap();
        expression.implied(&globals)
    }

    fn field(path: &str, operator: &'static str, value: impl Into<RawBson>) -> Implied {
        Implied::Field {
            path: path.to_owned(),
            operator,
            value: value.into(),
        }
    }

    #[test]
    fn comparisons_with_constants_imply_filters() {
        for (expression, expected) in [
            (rawdoc! {"$eq": ["$a.b", "$$x"]}, field("a.b", "$eq", 2)),
            (rawdoc! {"$lt": [3, "$a"]}, field("a", "$gt", 3)),
            (rawdoc! {"$gte": [3, "$a"]}, field("a", "$lte", 3)),
            (
                rawdoc! {"$lte": ["$$ROOT.a", {"$add": [1, "$$x"]}]},
                field("a", "$lte", 3),
            ),
            (
                rawdoc! {"$and": [{"$gt": ["$a", 1]}, "$b", {"$ne": ["$a", 2]}]},
                Implied::All(vec![field("a", "$gt", 1)]),
            ),
            (
                rawdoc! {"$or": [{"$eq": ["$a", 1]}, {"$eq": ["$b", 2]}]},
                Implied::Any(vec![field("a", "$eq", 1), field("b", "$eq", 2)]),
            ),
        ] {
            assert_eq!(implied(&expression), Some(expected), "{expression:?}");
        }
    }

    #[test]
    fn other_expressions_imply_no_filter() {
        for expression in [
            rawdoc! {"$eq": ["$a", "$b"]},
            rawdoc! {"$eq": ["$a", ["$$x"]]},
            rawdoc! {"$eq": ["$a", "$$none"]},
            rawdoc! {"$eq": ["$a", "$$REMOVE"]},
            rawdoc! {"$eq": ["$$ROOT", 1]},
            rawdoc! {"$eq": ["$$x", 1]},
            rawdoc! {"$ne": ["$a", 1]},
            rawdoc! {"$not": [{"$eq": ["$a", 1]}]},
            rawdoc! {"$or": [{"$eq": ["$a", 1]}, "$b"]},
        ] {
            assert_eq!(implied(&expression), None, "{expression:?}");
        }
    }
}
