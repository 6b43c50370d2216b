//! The tree of a compiled expression.

use bson::RawBson;

use crate::expression::compat::argument_order::WrittenOrder;
use crate::expression::meta::Meta;
use crate::expression::operator::Operator;

/// A compiled expression.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Literal(RawBson),
    /// `$a.b`: the parts of a path from the current document.
    Field(Vec<String>),
    /// `$$name.a.b`.
    Variable(String, Vec<String>),
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Call {
        operator: &'static Operator,
        arguments: Vec<Option<Node>>,
        written: WrittenOrder,
    },
    Form(Box<Form>),
}

/// A compiled form; `special_forms/eval.rs` runs it.
#[derive(Debug, Clone)]
pub(super) enum Form {
    And(Vec<Node>, WrittenOrder),
    Or(Vec<Node>, WrittenOrder),
    Cond {
        condition: Node,
        then: Node,
        otherwise: Node,
    },
    IfNull(Vec<Node>),
    Switch {
        branches: Vec<(Node, Node)>,
        default: Option<Node>,
    },
    Let {
        variables: Vec<(String, Node)>,
        within: Node,
    },
    Map {
        input: Node,
        name: String,
        within: Node,
    },
    Filter {
        input: Node,
        name: String,
        condition: Node,
        limit: Option<Node>,
    },
    Meta(Meta),
    Zip(Zip),
    Reduce {
        input: Node,
        initial: Node,
        within: Node,
    },
}

/// A compiled `$zip`.
#[derive(Debug, Clone)]
pub(super) struct Zip {
    pub(super) inputs: Vec<Node>,
    pub(super) is_longest: bool,
    pub(super) defaults: Vec<Node>,
}

impl Zip {
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.inputs.iter().chain(&self.defaults)
    }
}

impl Node {
    /// Visits the node and all nodes below it.
    pub(super) fn visit(&self, see: &mut dyn FnMut(&Self)) {
        see(self);
        match self {
            Self::Literal(_) | Self::Field(_) | Self::Variable(..) => {}
            Self::Object(fields) => fields.iter().for_each(|(_, node)| node.visit(see)),
            Self::Array(nodes) => nodes.iter().for_each(|node| node.visit(see)),
            Self::Call { arguments, .. } => {
                arguments.iter().flatten().for_each(|node| node.visit(see));
            }
            Self::Form(form) => form.nodes().into_iter().for_each(|node| node.visit(see)),
        }
    }
}

impl Form {
    /// The nodes right below it.
    fn nodes(&self) -> Vec<&Node> {
        match self {
            Self::And(nodes, _) | Self::Or(nodes, _) | Self::IfNull(nodes) => {
                nodes.iter().collect()
            }
            Self::Cond {
                condition,
                then,
                otherwise,
            } => vec![condition, then, otherwise],
            Self::Switch { branches, default } => {
                let branches = branches.iter().flat_map(|(case, then)| [case, then]);
                branches.chain(default).collect()
            }
            Self::Let { variables, within } => {
                let variables = variables.iter().map(|(_, node)| node);
                variables.chain([within]).collect()
            }
            Self::Map { input, within, .. } => vec![input, within],
            Self::Filter {
                input,
                condition,
                limit,
                ..
            } => [input, condition].into_iter().chain(limit).collect(),
            Self::Meta(_) => Vec::new(),
            Self::Zip(zip) => zip.nodes().collect(),
            Self::Reduce {
                input,
                initial,
                within,
            } => vec![input, initial, within],
        }
    }
}
