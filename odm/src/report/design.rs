//! What design checks say about models.

use std::fmt;

use crate::error::{Error, Result};
use crate::model::field::VariantContent;
use crate::model::{EmbeddedMeta, FieldMeta, ModelMeta, RelationMeta, Shape, TypeMeta};
use crate::schema::{indexes, validator};

/// The checks whose codes are at the ends of error messages.
const CODES: [&str; 3] = ["budget", "no_bound", "depth"];

/// What a design check says about a model: a refusal, or a reason to allow what it would refuse.
///
/// The compiler refuses what a declaration shows, so that a program with such a model does not build. The notes are about the
/// rest. Reasons within `embed(few, …)`, `references(many, …)` and `keywords(…)` are not part of the metadata, and not listed.
///
/// ```
/// use odm::prelude::*;
/// use odm::report::DesignOutcome;
///
/// #[derive(Serialize, Deserialize, Embedded)]
/// struct Line { count: i32 }
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "orders", budget = "1MiB")]
/// struct Order {
///     #[serde(rename = "_id")]
///     id: i32,
///     #[odm(unbounded = "the shop refuses more than 80")]
///     lines: Vec<Line>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> odm::Result<()> {
/// let report = Db::memory().report(models![Order]).await?;
/// let [refused, allowed] = report.design.as_slice() else { panic!("{report}") };
/// assert_eq!((refused.code, refused.outcome), (Some("no_bound"), DesignOutcome::Refused));
/// assert_eq!((allowed.code, allowed.outcome), (Some("bare_list"), DesignOutcome::Allowed));
/// assert_eq!(allowed.message, "the shop refuses more than 80");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DesignNote {
    /// The Rust name of the model.
    pub model: &'static str,
    /// The code of the check, as in the book; `None` for another mistake of a declaration.
    pub code: Option<&'static str>,
    /// The stored path of the field, or the name of the relation, if the note is about one.
    pub path: Option<String>,
    /// Whether it was refused or allowed.
    pub outcome: DesignOutcome,
    /// The problem and what to write, or the reason.
    pub message: String,
}

/// What came of a design check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DesignOutcome {
    /// The declaration can't be carried out: no plan is made for the model.
    Refused,
    /// The declaration gives a reason why the rule does not apply.
    Allowed,
}

impl fmt::Display for DesignOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "refused",
            Self::Allowed => "allowed",
        })
    }
}

impl fmt::Display for DesignNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "design of {}", self.model)?;
        if let Some(path) = &self.path {
            write!(f, " at `{path}`")?;
        }
        let code = self.code.unwrap_or("declaration");
        write!(f, ": {code} {}: {}", self.outcome, self.message)
    }
}

/// The notes about all models.
pub(super) fn notes(models: &[&'static ModelMeta]) -> Vec<DesignNote> {
    let mut notes = Vec::new();
    for model in models {
        refused(model, &mut notes);
        allowed(model, &mut notes);
    }
    notes
}

/// What a plan of `sync` would refuse, all at once.
fn refused(model: &'static ModelMeta, notes: &mut Vec<DesignNote>) {
    let results: [Result<()>; 9] = [
        model.check_budget(),
        indexes(model).map(drop),
        validator(model).map(drop),
        model.copies().map(drop),
        model.copied().map(drop),
        model.two_way().map(drop),
        model.newest_lists().map(drop),
        model.summaries().map(drop),
        model.summarized().map(drop),
    ];
    for error in results.into_iter().filter_map(Result::err) {
        let note = refusal(model, &error);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}

fn refusal(model: &'static ModelMeta, error: &Error) -> DesignNote {
    let message = error.to_string();
    let mut codes = CODES.into_iter();
    DesignNote {
        model: model.name,
        code: codes.find(|code| message.contains(&format!("[odm::{code}:"))),
        path: error.path().map(str::to_owned),
        outcome: DesignOutcome::Refused,
        message,
    }
}

/// What was allowed, with the reasons.
fn allowed(model: &'static ModelMeta, notes: &mut Vec<DesignNote>) {
    let mut add = |code: &'static str, path: Option<String>, reason: &str| {
        notes.push(DesignNote {
            model: model.name,
            code: Some(code),
            path,
            outcome: DesignOutcome::Allowed,
            message: reason.to_owned(),
        });
    };
    if let Some(reason) = model.budget.and_then(|budget| budget.allow) {
        add("budget", None, reason);
    }
    let inverses = model.relations().iter();
    for inverse in inverses.filter_map(RelationMeta::as_inverse) {
        if let Some(reason) = inverse.allow_scan {
            add("relation_scan", Some(inverse.name.to_owned()), reason);
        }
    }
    let mut lists = Lists {
        open: Vec::new(),
        found: Vec::new(),
    };
    lists.embedded((model.embedded)(), "");
    for (path, reason) in lists.found {
        add("bare_list", Some(path), reason);
    }
}

/// Finds lists without a bound.
struct Lists {
    /// The structs that are being walked through: a type can contain itself.
    open: Vec<&'static EmbeddedMeta>,
    found: Vec<(String, &'static str)>,
}

impl Lists {
    fn embedded(&mut self, meta: &'static EmbeddedMeta, at: &str) {
        if self.open.iter().any(|open| std::ptr::eq(*open, meta)) {
            return;
        }
        self.open.push(meta);
        self.fields(meta.fields, at);
        for variant in meta.variants.iter().flat_map(|it| it.variants) {
            match &variant.content {
                VariantContent::Struct(fields) => self.fields(fields, at),
                VariantContent::Newtype(ty) => self.value(ty, at),
                VariantContent::Unit | VariantContent::Tuple(_) => {}
            }
        }
        self.open.pop();
    }

    fn fields(&mut self, fields: &'static [FieldMeta], at: &str) {
        for field in fields {
            let path = match (field.flatten, at) {
                (true, at) => at.to_owned(),
                (false, "") => field.name.to_owned(),
                (false, at) => format!("{at}.{}", field.name),
            };
            if let Some(reason) = field.unbounded {
                self.found.push((path.clone(), reason));
            }
            self.value(&field.ty, &path);
        }
    }

    fn value(&mut self, ty: &'static TypeMeta, at: &str) {
        match &ty.shape {
            Shape::Embedded(meta) => self.embedded(meta(), at),
            Shape::Array { element, .. } => self.value(element, at),
            Shape::Map(values) => self.value(values, at),
            _ => {}
        }
    }
}
