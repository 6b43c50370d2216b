//! Properties of an expression that need no evaluation: whether it is constant, and whether it is true.

use crate::expression::ast::{Form, Node};
use crate::expression::value::Value;

/// Whether mongod computes an operator in advance if all of its arguments are constant.
pub(in crate::expression) fn is_folded(name: &str) -> bool {
    !matches!(
        name,
        "$getField"
            | "$rand"
            | "$regexFind"
            | "$regexFindAll"
            | "$regexMatch"
            | "$replaceAll"
            | "$replaceOne"
            | "$setEquals"
            | "$setField"
            | "$sortArray"
            | "$unsetField"
    )
}

/// The truth of an expression, as far as the parser determines it without evaluating anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It depends on the document.
    Varies,
    Constant,
    /// It is a constant with this truth value.
    Is(bool),
}

impl Known {
    /// `Constant` if all parts are constant.
    fn of_parts<'n>(mut parts: impl Iterator<Item = &'n Node>) -> Self {
        if parts.all(Node::is_constant) {
            Self::Constant
        } else {
            Self::Varies
        }
    }
}

impl Node {
    /// Whether the expression evidently does not depend on the document.
    pub(in crate::expression) fn is_constant(&self) -> bool {
        self.known() != Known::Varies
    }

    // Visits each part only once: expressions may nest deeply.
    fn known(&self) -> Known {
        let always = |known| match known {
            Known::Varies => Known::Varies,
            _ => Known::Is(true),
        };
        match self {
            Self::Literal(value) => Known::Is(Value::Ref(value.as_raw_bson_ref()).truthy()),
            Self::Object(fields) => always(Known::of_parts(fields.iter().map(|(_, node)| node))),
            Self::Array(nodes) => always(Known::of_parts(nodes.iter())),
            Self::Call {
                operator,
                arguments,
                ..
            } if is_folded(operator.name) => Known::of_parts(arguments.iter().flatten()),
            Self::Variable(name, _) if matches!(name.as_str(), "REMOVE" | "NOW") => Known::Constant,
            Self::Form(form) => form.known(),
            Self::Field(_) | Self::Variable(..) | Self::Call { .. } => Known::Varies,
        }
    }
}

impl Form {
    fn known(&self) -> Known {
        match self {
            Self::And(nodes, _) => decided(nodes, false),
            Self::Or(nodes, _) => decided(nodes, true),
            Self::IfNull(nodes) => Known::of_parts(nodes.iter()),
            Self::Cond {
                condition,
                then,
                otherwise,
            } => match condition.known() {
                Known::Varies => Known::Varies,
                Known::Constant => Known::of_parts([then, otherwise].into_iter()),
                Known::Is(true) => then.known(),
                Known::Is(false) => otherwise.known(),
            },
            Self::Switch { branches, default } => {
                let parts = branches.iter().flat_map(|(case, then)| [case, then]);
                Known::of_parts(parts.chain(default))
            }
            Self::Let { variables, within } if variables.is_empty() => within.known(),
            Self::Let { .. }
            | Self::Meta(_)
            | Self::Map { .. }
            | Self::Filter { .. }
            | Self::Zip(_)
            | Self::Reduce { .. } => Known::Varies,
        }
    }
}

/// `$and` and `$or`, which a single constant may decide.
fn decided(nodes: &[Node], decides: bool) -> Known {
    let mut all = Known::Is(!decides);
    for node in nodes {
        all = match (all, node.known()) {
            (_, Known::Is(truth)) if truth == decides => return Known::Is(decides),
            (Known::Varies, _) | (_, Known::Varies) => Known::Varies,
            (Known::Constant, _) | (_, Known::Constant) => Known::Constant,
            (all, Known::Is(_)) => all,
        };
    }
    all
}
