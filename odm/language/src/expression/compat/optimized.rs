//! Prints expressions as mongod's `explain` does: with constant parts computed, and every operator in one form.

use bson::raw::RawBsonRef;
use bson::{Bson, Document, doc};

use crate::expression::ast::{Form, Node};
use crate::expression::compat::argument_order::WrittenOrder;
use crate::expression::constant::{ASSOCIATIVE, NOT_ENTERED, is_one};
use crate::expression::eval::Env;
use crate::expression::meta::VALUES;
use crate::expression::operator::{Args, ArgumentForm, Operator};
use crate::expression::parse::is_commutative;
use crate::expression::value::Value;
use crate::expression::{Expression, Globals};
use crate::value::raw::empty_document;

impl Expression {
    /// The expression as mongod's optimizer leaves it: `{$add: [1, "$a", 2]}` becomes `{$add: ["$a", {$const: 3}]}`.
    pub fn optimized(&self, globals: &Globals) -> Bson {
        self.printed(globals, true, None)
    }

    /// The expression in mongod's form, with its constants as they were written.
    pub fn parsed(&self, globals: &Globals) -> Bson {
        self.printed(globals, false, None)
    }

    /// The expression over documents in which each path has the name that `rename` returns.
    pub fn renamed(&self, globals: &Globals, rename: &dyn Fn(&str) -> String) -> Bson {
        self.printed(globals, false, Some(rename))
    }

    fn printed(&self, globals: &Globals, folds: bool, rename: Option<Rename<'_>>) -> Bson {
        let env = Env::new(empty_document(), globals);
        let printer = Printer {
            env: &env,
            folds,
            rename,
        };
        printer.node(&self.0, &[])
    }
}

/// `{$const: value}`.
fn constant(value: RawBsonRef<'_>) -> Bson {
    doc! { "$const": owned(value) }.into()
}

fn owned(value: RawBsonRef<'_>) -> Bson {
    Bson::try_from(value).unwrap_or(Bson::Null)
}

/// `{name: argument}`.
fn call(name: &str, argument: impl Into<Bson>) -> Bson {
    let mut shown = Document::new();
    shown.insert(name, argument);
    shown.into()
}

/// The name that a path has in other documents.
type Rename<'r> = &'r dyn Fn(&str) -> String;

#[derive(Clone, Copy)]
struct Printer<'e, 'a> {
    env: &'e Env<'e, 'a>,
    /// Whether constant parts are computed. mongod does not look into the arguments of some operators.
    folds: bool,
    /// The paths of the document are printed by it.
    rename: Option<Rename<'e>>,
}

impl<'a> Printer<'_, 'a> {
    /// Prints an expression in which an outer one binds the variables `bound`.
    fn node(self, node: &'a Node, bound: &[&str]) -> Bson {
        // A missing value has no constant form.
        if self.folds
            && let Ok(Some(value)) = node.constant(self.env, bound)
            && let Some(value) = value.get()
        {
            return constant(value);
        }
        match node {
            Node::Literal(value) => constant(value.as_raw_bson_ref()),
            Node::Field(path) => Bson::String(self.path(path, bound)),
            Node::Variable(name, path) if path.is_empty() => Bson::String(format!("$${name}")),
            Node::Variable(name, path) if name == "CURRENT" => Bson::String(self.path(path, bound)),
            Node::Variable(name, path) if name == "ROOT" && self.rename.is_some() => {
                Bson::String(self.path(path, &[]))
            }
            Node::Variable(name, path) => Bson::String(format!("$${name}.{}", path.join("."))),
            Node::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, node)| (name.clone(), self.node(node, bound)));
                Bson::Document(fields.collect())
            }
            Node::Array(nodes) => self.nodes(nodes, bound).into(),
            Node::Call {
                operator,
                arguments,
                ..
            } => self.operator(operator, arguments, bound),
            Node::Form(form) => self.form(form, bound),
        }
    }

    /// A path of the document, or of what an outer expression binds in its place.
    fn path(self, path: &[String], bound: &[&str]) -> String {
        let path = path.join(".");
        match self.rename {
            Some(rename) if !bound.contains(&"CURRENT") => format!("${}", rename(&path)),
            _ => format!("${path}"),
        }
    }

    fn nodes(self, nodes: &'a [Node], bound: &[&str]) -> Vec<Bson> {
        nodes.iter().map(|node| self.node(node, bound)).collect()
    }

    fn operator(
        self,
        operator: &'static Operator,
        arguments: &'a [Option<Node>],
        bound: &[&str],
    ) -> Bson {
        let inner = Self {
            folds: self.folds && !is_one(NOT_ENTERED, operator.name),
            ..self
        };
        if let Some(to) = conversion(operator.name) {
            let input = arguments.first().and_then(Option::as_ref);
            let input = input.map(|node| inner.node(node, bound));
            return call("$convert", doc! { "input": input, "to": { "$const": to } });
        }
        let ArgumentForm::Named(named) = operator.shape else {
            return match operator.name {
                "$rand" => call(operator.name, doc! {}),
                name => call(name, inner.arguments(operator, arguments, bound)),
            };
        };
        let mut shown = Document::new();
        for (name, argument) in named.names.iter().zip(arguments) {
            match argument {
                Some(Node::Literal(sort)) if *name == "sortBy" => {
                    shown.insert(*name, owned(sort.as_raw_bson_ref()));
                }
                Some(argument) => {
                    shown.insert(*name, inner.node(argument, bound));
                }
                None => {}
            }
        }
        if operator.name == "$unsetField" {
            shown.insert("value", "$$REMOVE");
            return call("$setField", shown);
        }
        call(operator.name, shown)
    }

    /// The arguments of an operator, of which some constants are combined into one.
    fn arguments(
        self,
        operator: &'static Operator,
        arguments: &'a [Option<Node>],
        bound: &[&str],
    ) -> Vec<Bson> {
        let arguments: Vec<&Node> = arguments.iter().flatten().collect();
        let value = |node: &'a Node| match node.constant(self.env, bound) {
            Ok(value) if self.folds => value,
            _ => None,
        };
        let values: Vec<Option<Value<'a>>> = arguments.iter().map(|node| value(node)).collect();
        let mut shown = Vec::new();
        if operator.name == "$sum"
            || is_commutative(operator.name, self.env.globals.collator().is_some())
        {
            let together: Vec<_> = values.iter().flatten().cloned().collect();
            if together.len() > 1
                && let Some(combined) = self.combined(operator, together)
            {
                let others = arguments.iter().zip(&values);
                let others = others.filter(|(_, value)| value.is_none());
                shown.extend(others.map(|(node, _)| self.node(node, bound)));
                shown.push(combined);
                return shown;
            }
        }
        let mut run: Vec<(&Node, Value<'a>)> = Vec::new();
        for (node, value) in arguments.into_iter().zip(values) {
            match value {
                Some(value) if is_one(ASSOCIATIVE, operator.name) => run.push((node, value)),
                _ => {
                    self.flush(operator, &mut run, &mut shown);
                    shown.push(self.node(node, bound));
                }
            }
        }
        self.flush(operator, &mut run, &mut shown);
        shown
    }

    /// Prints adjacent constants as one.
    fn flush(
        self,
        operator: &'static Operator,
        run: &mut Vec<(&Node, Value<'a>)>,
        shown: &mut Vec<Bson>,
    ) {
        let run = std::mem::take(run);
        let values: Vec<_> = run.into_iter().map(|(_, value)| value).collect();
        if values.len() > 1
            && let Some(combined) = self.combined(operator, values.clone())
        {
            shown.push(combined);
            return;
        }
        shown.extend(values.iter().map(|value| constant(value.or_null())));
    }

    fn combined(self, operator: &'static Operator, values: Vec<Value<'a>>) -> Option<Bson> {
        let mut arguments = Args {
            operator: operator.name,
            given: vec![true; values.len()],
            values,
            globals: self.env.globals,
        };
        let combined = (operator.eval)(&mut arguments).ok()?;
        combined.get().map(constant)
    }

    fn form(self, form: &'a Form, bound: &[&str]) -> Bson {
        match form {
            Form::And(nodes, written) => self.junction("$and", nodes, written, bound),
            Form::Or(nodes, written) => self.junction("$or", nodes, written, bound),
            Form::Cond {
                condition,
                then,
                otherwise,
            } => match condition.constant(self.env, bound) {
                Ok(Some(value)) if self.folds => {
                    let taken = if value.truthy() { then } else { otherwise };
                    self.node(taken, bound)
                }
                _ => {
                    let parts = [condition, then, otherwise].map(|node| self.node(node, bound));
                    call("$cond", parts.to_vec())
                }
            },
            Form::IfNull(nodes) => {
                let is_null = |node: &&Node| {
                    let value = node.constant(self.env, bound);
                    self.folds && matches!(value, Ok(Some(value)) if value.is_nullish())
                };
                let mut rest: Vec<Bson> = nodes
                    .iter()
                    .skip_while(is_null)
                    .map(|node| self.node(node, bound))
                    .collect();
                match rest.pop() {
                    Some(only) if rest.is_empty() => only,
                    last => {
                        rest.extend(last);
                        call("$ifNull", rest)
                    }
                }
            }
            Form::Switch { branches, default } => self.switch(branches, default.as_ref(), bound),
            Form::Let { variables, within } if variables.is_empty() => self.node(within, bound),
            Form::Let { variables, within } => {
                let vars: Document = variables
                    .iter()
                    .map(|(name, node)| (name.clone(), self.node(node, bound)))
                    .collect();
                let names = variables.iter().map(|(name, _)| name.as_str());
                let inner: Vec<&str> = bound.iter().copied().chain(names).collect();
                call(
                    "$let",
                    doc! { "vars": vars, "in": self.node(within, &inner) },
                )
            }
            Form::Map {
                input,
                name,
                within,
            } => {
                let inner = with(bound, &[name]);
                call(
                    "$map",
                    doc! {
                        "input": self.node(input, bound),
                        "as": name,
                        "in": self.node(within, &inner),
                    },
                )
            }
            Form::Filter {
                input,
                name,
                condition,
                limit,
            } => {
                let mut shown = doc! {
                    "input": self.node(input, bound),
                    "as": name,
                    "cond": self.node(condition, &with(bound, &[name])),
                };
                if let Some(limit) = limit {
                    shown.insert("limit", self.node(limit, bound));
                }
                call("$filter", shown)
            }
            Form::Meta(meta) => {
                let named = VALUES.iter().find(|(_, known)| *known == Some(*meta));
                call("$meta", named.map_or("", |(name, _)| *name))
            }
            Form::Zip(zip) => {
                let mut shown = doc! { "inputs": self.nodes(&zip.inputs, bound) };
                if !zip.defaults.is_empty() {
                    shown.insert("defaults", self.nodes(&zip.defaults, bound));
                }
                shown.insert("useLongestLength", zip.is_longest);
                call("$zip", shown)
            }
            Form::Reduce {
                input,
                initial,
                within,
            } => call(
                "$reduce",
                doc! {
                    "input": self.node(input, bound),
                    "initialValue": self.node(initial, bound),
                    "in": self.node(within, &with(bound, &["this", "value"])),
                },
            ),
        }
    }

    /// `$and` or `$or`, without the constants that do not decide it.
    fn junction(
        self,
        name: &str,
        nodes: &'a [Node],
        written: &WrittenOrder,
        bound: &[&str],
    ) -> Bson {
        let is_open =
            |node: &&Node| !self.folds || !matches!(node.constant(self.env, bound), Ok(Some(_)));
        let places = written.places(nodes.len());
        let open: Vec<&Node> = places
            .filter_map(|at| nodes.get(at))
            .filter(is_open)
            .collect();
        let name = if open.len() == 1 && nodes.len() > 1 {
            "$coerceToBool"
        } else {
            name
        };
        let open = open.into_iter().map(|node| self.node(node, bound));
        call(name, open.collect::<Vec<_>>())
    }

    /// `$switch`, without the branches that are never taken.
    fn switch(
        self,
        branches: &'a [(Node, Node)],
        default: Option<&'a Node>,
        bound: &[&str],
    ) -> Bson {
        let mut default = default;
        let mut shown = Vec::new();
        for (case, then) in branches {
            match case.constant(self.env, bound) {
                Ok(Some(value)) if self.folds => {
                    if value.truthy() {
                        default = Some(then);
                        break;
                    }
                }
                _ => shown.push(doc! {
                    "case": self.node(case, bound),
                    "then": self.node(then, bound),
                }),
            }
        }
        let default = default.map(|node| self.node(node, bound));
        match default {
            Some(default) if shown.is_empty() => default,
            default => {
                let mut parts = doc! { "branches": shown };
                if let Some(default) = default {
                    parts.insert("default", default);
                }
                call("$switch", parts)
            }
        }
    }
}

fn with<'n>(bound: &[&'n str], more: &[&'n str]) -> Vec<&'n str> {
    bound.iter().chain(more).copied().collect()
}

/// The type to which an operator such as `$toInt` converts: mongod makes a `$convert` of it.
fn conversion(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "$toBool" => "bool",
        "$toDate" => "date",
        "$toDecimal" => "decimal",
        "$toDouble" => "double",
        "$toInt" => "int",
        "$toLong" => "long",
        "$toObjectId" => "objectId",
        "$toString" => "string",
        _ => return None,
    })
}
