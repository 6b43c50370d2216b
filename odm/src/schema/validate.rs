//! Validates documents in this process by their collection's validator, with the engine's matcher.

use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use bson::{RawDocument, RawDocumentBuf, doc};
use odm_language::expression::Globals;
use odm_language::matcher::Matcher;
use odm_language::value::collation::Collator;
use odm_language::version::ServerVersion;

use crate::codec::encode;
use crate::error::{Code, Error, Result, ServerError};
use crate::model::{Document, ModelMeta};
use crate::schema::indexes::collation;
use crate::schema::validator::validator;

/// Checks documents before they are sent; implemented for every model.
pub trait Validate: Document {
    /// Checks the document against the validator of its collection, as the server would at level `strict`.
    /// The declared level and action do not matter.
    ///
    /// The validator is compiled at the first check of a type and kept. To compile it earlier, and to see the
    /// errors of a wrong declaration, make a [`Validator`].
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "books")]
    /// struct Book {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[odm(length(min = 1))]
    ///     title: String,
    /// }
    ///
    /// let error = Book { id: 7, title: String::new() }.validate().unwrap_err();
    /// let failure = error.validation_failure().unwrap();
    /// let violation = &failure.violations()[0];
    /// assert_eq!((violation.rule.as_str(), violation.path.as_str()), ("minLength", "title"));
    /// ```
    ///
    /// # Errors
    ///
    /// [`validation_failure`](Error::validation_failure): the document breaks a rule; the details are those
    /// that the server would return. [`is_encode`](Error::is_encode): the document can't be stored at all.
    fn validate(&self) -> Result<()> {
        Validator::<Self>::new()?.validate(self)
    }
}

impl<M: Document> Validate for M {}

/// The validator of a model, compiled.
pub struct Validator<M> {
    meta: &'static ModelMeta,
    matcher: Arc<Matcher>,
    of: PhantomData<fn(M)>,
}

impl<M: Document> Validator<M> {
    /// Returns the validator of the model, which is compiled once per process. The closures of its expression
    /// rules run once, too.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = Db::memory();
    /// use odm::schema::Validator;
    ///
    /// let validator = Validator::<Book>::new()?;
    /// assert!(validator.validate(&book(1, "Emma", 1815)).is_ok());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`is_declaration`](Error::is_declaration): the declarations can't be a validator, or they use an
    /// operator that only mongod has.
    pub fn new() -> Result<Self> {
        let meta = M::model();
        Ok(Self {
            meta,
            matcher: compiled(TypeId::of::<M>(), meta)
                .map_err(|error| error.with_model(meta.name))?,
            of: PhantomData,
        })
    }

    /// Checks one document: see [`Validate::validate`].
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "books")]
    /// # struct Book { #[serde(rename = "_id")] id: i32, #[odm(range(min = 1450))] year: i32 }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use odm::schema::Validator;
    ///
    /// // `year` has the rule `range(min = 1450)`.
    /// let validator = Validator::<Book>::new()?;
    /// let error = validator.validate(&Book { id: 7, year: 150 }).unwrap_err();
    /// assert!(error.is_validation_failure());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Validate::validate`].
    pub fn validate(&self, document: &M) -> Result<()> {
        let raw = encode::document(document)
            .map_err(|failure| failure.into_error().with_model(self.meta.name))?;
        check(&self.matcher, &raw).map_err(|error| named(error, self.meta))
    }
}

impl<M> fmt::Debug for Validator<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Validator({})", self.meta.name)
    }
}

/// The validator of a model whose type is not known, compiled.
pub(crate) struct ModelValidator {
    meta: &'static ModelMeta,
    matcher: Matcher,
}

impl ModelValidator {
    pub(crate) fn of(meta: &'static ModelMeta) -> Result<Self> {
        let matcher = compile(meta).map_err(|error| error.with_model(meta.name))?;
        Ok(Self { meta, matcher })
    }

    /// Checks a stored document.
    pub(crate) fn validate(&self, document: &RawDocument) -> Result<()> {
        check(&self.matcher, document).map_err(|error| named(error, self.meta))
    }
}

fn named(error: Error, meta: &ModelMeta) -> Error {
    error.with_model(meta.name).with_rules(&meta.rule_names())
}

/// The compiled validators, by type: `Page<Film>` and `Page<Actor>` have one each.
static COMPILED: LazyLock<RwLock<HashMap<TypeId, Arc<Matcher>>>> = LazyLock::new(RwLock::default);

fn compiled(of: TypeId, meta: &ModelMeta) -> Result<Arc<Matcher>> {
    let found = {
        let compiled = COMPILED.read().unwrap_or_else(PoisonError::into_inner);
        compiled.get(&of).map(Arc::clone)
    };
    if let Some(matcher) = found {
        return Ok(matcher);
    }
    // Compiles without holding the lock: the model's rules are the user's code, and may validate a document
    // themselves.
    let matcher = Arc::new(compile(meta)?);
    let mut compiled = COMPILED.write().unwrap_or_else(PoisonError::into_inner);
    Ok(Arc::clone(compiled.entry(of).or_insert(matcher)))
}

fn compile(meta: &ModelMeta) -> Result<Matcher> {
    // The rules of a model may need a later server than the one of the tests; a server refuses what it does not know.
    let mut globals = Globals::stored().with_version(ServerVersion::LATEST);
    // A validator compares strings by the collation of its collection.
    if let Some(collation) = &meta.collation {
        let collation = raw(&collation::document(collation))?;
        globals = globals.with_collator(Collator::parse(&collation, "collation")?);
    }
    Ok(Matcher::parse_validator(
        &raw(&validator(meta)?)?,
        &globals,
    )?)
}

fn raw(document: &bson::Document) -> Result<RawDocumentBuf> {
    RawDocumentBuf::try_from(document).map_err(Error::encode)
}

/// Refuses a document as the server would.
fn check(matcher: &Matcher, document: &RawDocument) -> Result<()> {
    let Some(details) = matcher.failure(document)? else {
        return Ok(());
    };
    let mut info = doc! {};
    if let Ok(Some(id)) = document.get("_id")
        && let Ok(id) = bson::Bson::try_from(id)
    {
        info.insert("failingDocumentId", id);
    }
    info.insert("details", details);
    let refusal = ServerError::new(
        Code::DOCUMENT_VALIDATION_FAILURE,
        "Document failed validation",
    );
    Err(refusal.with_details(doc! {"errInfo": info}).into())
}

#[cfg(test)]
mod tests;
