//! `$redact`: keeps, drops or enters a document and each document in it, as an expression decides.

use bson::Bson;
use bson::raw::{RawArray, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::error::{ServerError, refuse};
use crate::expression::ast::Node;
use crate::expression::compat::messages;
use crate::expression::eval::{Env, Local};
use crate::expression::{Expression, Globals, Scope, Value};
use crate::value::order;
use crate::value::raw::{append, elements, values};

/// The variables that a `$redact` adds, and their values.
const DECISIONS: [(&str, &str); 3] = [("DESCEND", "descend"), ("KEEP", "keep"), ("PRUNE", "prune")];

/// A compiled `$redact`.
#[derive(Debug)]
pub struct Redact(Expression);

impl Redact {
    pub fn parse(spec: RawBsonRef<'_>, scope: &Scope) -> Result<Self, ServerError> {
        // `$$ROOT` differs from `$$CURRENT` in the documents below.
        let scope = DECISIONS
            .iter()
            .fold(scope.with("ROOT"), |scope, (name, _)| scope.with(*name));
        Expression::parse(spec, &scope).map(Self)
    }

    /// The expression as mongod's `explain` shows it.
    pub fn optimized(&self, globals: &Globals) -> Bson {
        self.0.optimized(globals)
    }

    pub fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.0.check_constants(globals)
    }

    /// Returns the rest of the document; `None` if it is dropped.
    pub fn apply(
        &self,
        document: &RawDocument,
        globals: &Globals,
    ) -> Result<Option<RawDocumentBuf>, ServerError> {
        let run = Run {
            expression: &self.0.0,
            root: document,
            globals,
        };
        run.document(document)
    }
}

/// The state of one application.
struct Run<'r> {
    expression: &'r Node,
    root: &'r RawDocument,
    globals: &'r Globals,
}

impl Run<'_> {
    fn document(&self, document: &RawDocument) -> Result<Option<RawDocumentBuf>, ServerError> {
        match self.decide(document)? {
            "keep" => return Ok(Some(document.to_owned())),
            "prune" => return Ok(None),
            _ => {}
        }
        let mut rest = RawDocumentBuf::new();
        for (name, value) in elements(document) {
            match value {
                RawBsonRef::Document(inner) => {
                    if let Some(inner) = self.document(inner)? {
                        append(&mut rest, name, RawBsonRef::Document(&inner));
                    }
                }
                RawBsonRef::Array(array) => {
                    append(&mut rest, name, RawBsonRef::Array(&self.array(array)?));
                }
                value => append(&mut rest, name, value),
            }
        }
        Ok(Some(rest))
    }

    fn array(&self, array: &RawArray) -> Result<RawArrayBuf, ServerError> {
        let mut rest = RawArrayBuf::new();
        for value in values(array) {
            match value {
                RawBsonRef::Document(inner) => {
                    if let Some(inner) = self.document(inner)? {
                        rest.push(inner);
                    }
                }
                RawBsonRef::Array(inner) => rest.push(self.array(inner)?),
                value => rest.push(value),
            }
        }
        Ok(rest)
    }

    /// The value of the expression, which must be that of one of the three variables.
    fn decide(&self, document: &RawDocument) -> Result<&'static str, ServerError> {
        let root = Local {
            name: "ROOT",
            value: Value::Ref(RawBsonRef::Document(self.root)),
            outer: None,
        };
        let [descend, keep, prune] = DECISIONS;
        let local = |(name, value), outer| Local {
            name,
            value: Value::Ref(RawBsonRef::String(value)),
            outer: Some(outer),
        };
        let descend = local(descend, &root);
        let keep = local(keep, &descend);
        let prune = local(prune, &keep);
        let env = Env {
            locals: Some(&prune),
            ..Env::new(document, self.globals)
        };
        let value = self.expression.eval(&env)?;
        let found = value.get().and_then(|value| {
            DECISIONS.iter().find(|(_, decision)| {
                order::compare(value, RawBsonRef::String(decision), None).is_eq()
            })
        });
        match found {
            Some((_, decision)) => Ok(decision),
            None => refuse(
                17053,
                format!(
                    "$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and $$PRUNE, but returned {}",
                    value
                        .get()
                        .map_or_else(|| "MISSING".to_owned(), messages::computed)
                ),
            ),
        }
    }
}
