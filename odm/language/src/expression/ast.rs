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
