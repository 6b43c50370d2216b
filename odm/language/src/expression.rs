//! Aggregation expressions: compiled once, evaluated over raw documents.
//!
//! [`Expression::parse`] checks an expression and resolves its operators; [`Expression::eval`] runs it over a document
//! without decoding it. Start reading at `parse.rs` and `eval.rs`. Each family of operators has one sorted table.
//!
//! This module knows nothing about query predicates (see `matcher`) and stages.

pub mod accumulate;
mod arithmetic;
mod array;
mod ast;
mod binary;
mod bits;
pub mod calendar;
mod comparison;
pub mod compat;
mod constant;
mod date;
mod eval;
mod exponential;
mod free_text;
mod globals;
pub mod hash;
mod implied_predicates;
pub mod memory_limit;
pub mod meta;
mod named;
mod object;
mod operator;
mod parse;
mod parse_number;
pub mod percentile;
pub mod projection;
mod random;
pub mod redact;
mod regex;
pub mod replace_root;
mod set;
pub mod sort;
mod special_forms;
mod string;
pub mod sum;
mod table;
#[cfg(test)]
mod tests;
pub mod top_n;
mod trigonometry;
mod types;
mod value;

use bson::raw::{RawBsonRef, RawDocument};

use crate::error::ServerError;

pub use self::date::units;
pub use self::globals::check_pipeline_depth;
pub use self::globals::{Globals, Scope};
pub use self::implied_predicates::Implied;
pub use self::meta::VALUES as META_VALUES;
pub use self::object::merge_into;
pub use self::parse::{check_variable_name, field_path};
pub use self::table::{
    added as added_operators, added_arguments, known as known_operators, known_arguments,
};
pub use self::value::Value;

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct Expression(ast::Node);

impl Expression {
    /// Compiles an expression; `scope` has the names of the variables that it may use.
    pub fn parse(raw: RawBsonRef<'_>, scope: &Scope) -> Result<Self, ServerError> {
        parse::parse(raw, scope).map(Self)
    }

    /// The value of the expression for one document. Missing is distinct from null.
    pub fn eval<'a>(
        &'a self,
        root: &'a RawDocument,
        globals: &'a Globals,
    ) -> Result<Value<'a>, ServerError> {
        self.0.eval(&eval::Env::new(root, globals))
    }

    /// The name of the top-level field of which the value is a copy.
    pub fn copied_field(&self) -> Option<&str> {
        match &self.0 {
            ast::Node::Field(parts) => match &parts[..] {
                [field] => Some(field),
                _ => None,
            },
            _ => None,
        }
    }

    /// The paths in the document that the value depends on; `None` if that is the whole document, or its metadata.
    pub fn paths(&self) -> Option<Vec<String>> {
        let mut paths = Some(Vec::new());
        self.0.visit(&mut |node| {
            let path = match node {
                ast::Node::Field(parts) => Some(parts.join(".")),
                ast::Node::Variable(name, parts) if matches!(name.as_str(), "CURRENT" | "ROOT") => {
                    Some(parts.join("."))
                }
                ast::Node::Form(form) if matches!(**form, ast::Form::Meta(_)) => {
                    Some(String::new())
                }
                _ => None,
            };
            match (path, &mut paths) {
                (Some(path), Some(all)) if !path.is_empty() => all.push(path),
                (Some(_), paths) => *paths = None,
                (None, _) => {}
            }
        });
        paths
    }

    /// The path whose value the expression is, if it is nothing else.
    pub fn as_path(&self) -> Option<String> {
        match &self.0 {
            ast::Node::Field(parts) => Some(parts.join(".")),
            _ => None,
        }
    }

    /// Whether the value differs each time, by a `$rand`.
    pub fn is_random(&self) -> bool {
        let mut is_random = false;
        self.0.visit(&mut |node| {
            is_random |=
                matches!(node, ast::Node::Call { operator, .. } if operator.name == "$rand");
        });
        is_random
    }

    /// The parts of the value that are top-level fields of the document as they are, each with its path in the value (empty for
    /// the whole value) and the field's name.
    pub fn copied_fields(&self) -> Vec<(String, &str)> {
        fn collect<'n>(node: &'n ast::Node, path: &str, found: &mut Vec<(String, &'n str)>) {
            match node {
                ast::Node::Field(parts) => {
                    if let [field] = &parts[..] {
                        found.push((path.to_owned(), field));
                    }
                }
                ast::Node::Object(fields) => {
                    for (name, node) in fields {
                        collect(node, &join(path, name), found);
                    }
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        collect(&self.0, "", &mut found);
        found
    }

    /// The value, if the expression does not depend on the document. Fails if a constant part fails.
    pub fn constant<'a>(&'a self, globals: &'a Globals) -> Result<Option<Value<'a>>, ServerError> {
        let env = eval::Env::new(crate::value::raw::empty_document(), globals);
        self.0.constant(&env, &[])
    }

    /// Fails if a part that does not depend on the document fails: mongod refuses such an expression before it reads
    /// one.
    pub fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.constant(globals).map(drop)
    }
}

/// `a` and `b` as `a.b`; an empty path has no dot.
fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
