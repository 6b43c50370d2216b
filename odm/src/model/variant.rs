//! Several models in one collection: an enum that derives `Document`, and the structs of its variants.

use bson::{Document, doc};

use super::ModelMeta;

/// A model whose documents are one variant of the enum `M`: a struct with `#[odm(variant_of = M)]`. The derive on the enum
/// implements it for what each variant holds.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/media.rs"));
/// use odm::model::VariantOf;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// assert_eq!((Book::TAG, Book::NAME), ("kind", "book"));
/// let medium = book("Emma", "1").into_model();
/// assert_eq!(Film::of_model(medium.clone()), None);
/// assert_eq!(Book::of_model(medium).map(|book| book.isbn), Some("1".to_owned()));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no variant of `{M}`",
    label = "no variant of `{M}` holds it",
    note = "add a variant to the enum: `{Self}({Self})`; or name the enum that has one in `#[odm(variant_of = …)]`"
)]
pub trait VariantOf<M>: Sized {
    /// The stored name of the field that says which variant a document is.
    const TAG: &'static str;

    /// The value of that field in documents of this variant.
    const NAME: &'static str;

    /// The document as a value of the enum.
    fn into_model(self) -> M;

    /// The document in a value of the enum, if it is of this variant.
    fn of_model(model: M) -> Option<Self>;
}

/// A struct that says `variant_of = M`. The derives implement and name it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not declared as a variant of `{M}`",
    label = "not a model of this collection",
    note = "declare it: `#[derive(Document)]` with `#[odm(variant_of = {M})]`, and `#[serde(rename = \"_id\")]` on its id"
)]
pub trait DeclaredVariant<M> {
    /// The type of the `_id`.
    type Id;

    /// The model.
    fn model() -> &'static ModelMeta;

    /// The value stored as `_id`.
    fn id(&self) -> &Self::Id;
}

/// The variants of an enum have `_id`s of one type.
#[diagnostic::on_unimplemented(
    message = "the `_id`s of the variants are of different types: `{Self}`, and `{Id}` in the first variant",
    label = "`{Id}` in the first variant, `{Self}` in this one",
    note = "give the `_id` of all variants one type, such as the `Id<…>` of the enum"
)]
pub trait SameId<Id> {
    /// The id.
    fn same(&self) -> &Id;
}

impl<Id> SameId<Id> for Id {
    fn same(&self) -> &Id {
        self
    }
}

/// The enum that a model is a variant of.
#[derive(Debug)]
pub struct VariantOfMeta {
    /// The model of the enum; behind a function, so that both models can refer to each other.
    pub model: fn() -> &'static ModelMeta,
    /// The stored name of the tag.
    pub tag: &'static str,
    /// The value of the tag in documents of this variant.
    pub name: &'static str,
}

impl VariantOfMeta {
    /// The filter of the documents of this variant.
    pub(crate) fn filter(&self) -> Document {
        doc! {self.tag: self.name}
    }
}

impl ModelMeta {
    /// The models of the variants, if the model is an enum.
    pub(crate) fn variants(&self) -> impl Iterator<Item = &'static Self> {
        self.variants.iter().map(|variant| variant())
    }

    /// The model that declares the collection: the enum of a variant, or the model itself.
    pub(crate) fn whole(&self) -> &Self {
        self.variant_of.map_or(self, |of| (of.model)())
    }

    /// The models that declare the collections of these, each once.
    pub(crate) fn wholes(models: impl IntoIterator<Item = &'static Self>) -> Vec<&'static Self> {
        let mut all: Vec<&'static Self> = Vec::new();
        for model in models {
            let whole = model.whole();
            let is_whole =
                |other: &&Self| other.collection == whole.collection && other.name == whole.name;
            if !all.iter().any(is_whole) {
                all.push(whole);
            }
        }
        all
    }

    /// The statements as they are sent, for plans: those of a variant have its tag in their filters.
    pub(crate) fn shown(&self, mut statements: Vec<Document>) -> Vec<Document> {
        if let Some(of) = self.variant_of {
            for statement in &mut statements {
                if let Ok(filter) = statement.get_document_mut("q") {
                    filter.insert(of.tag, of.name);
                }
            }
        }
        statements
    }

    /// The names of the rules, those of variants included, in the order of the validator.
    pub(crate) fn rule_names(&self) -> Vec<&'static str> {
        let of_variants = self.variants().flat_map(|variant| variant.rules);
        let rules = self.rules.iter().chain(of_variants);
        rules.map(|rule| rule.name).collect()
    }
}
