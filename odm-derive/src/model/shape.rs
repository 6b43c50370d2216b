//! The stored shape of a struct or an enum, as serde writes it.

use syn::{DataEnum, DataStruct, DeriveInput, ExprPath, Fields, Ident, LitStr, Type};

use super::rust_type;
use crate::errors::Errors;
use crate::parse::case::{Case, snake};
use crate::parse::field::FieldAttributes;
use crate::parse::serde::Module;
use crate::parse::{self, serde};

/// The stored shape.
pub(crate) enum Shape {
    /// Named fields, after the tag that `#[serde(tag = "…")]` writes.
    Struct {
        tag: Option<(LitStr, String)>,
        fields: Vec<Field>,
    },
    /// Stored as another type: a newtype, `transparent`, or `into`.
    Forward {
        ty: Box<Type>,
        /// Whether `Self(value)` constructs the type.
        wraps: bool,
    },
    /// A newtype whose value has a serializer of its own.
    Opaque(Opaque),
    /// Several values, as an array.
    Tuple(Vec<TupleValue>),
    /// An enum of unit variants: one of these strings.
    Choice(Vec<String>),
    /// An enum with data.
    Enum(Enum),
    /// Refused.
    Unknown,
}

/// The value of a newtype, with a serializer of its own.
pub(crate) struct Opaque {
    pub(crate) ty: Box<Type>,
    /// The module after `with`, unless `bson_type` says what is stored.
    pub(crate) module: Option<Module>,
    pub(crate) bson_type: Option<LitStr>,
}

/// A value of a tuple struct.
pub(crate) struct TupleValue {
    pub(crate) ty: Type,
    /// Whether it has a serializer of its own.
    pub(crate) is_opaque: bool,
}

/// A named field.
#[expect(
    clippy::struct_excessive_bools,
    reason = "one for each thing that serde's words decide"
)]
pub(crate) struct Field {
    pub(crate) ident: Ident,
    /// The identifier without `r#`.
    pub(crate) rust: String,
    pub(crate) ty: Type,
    /// The stored name.
    pub(crate) stored: String,
    /// The `rename` that gave the stored name, if there is one.
    pub(crate) renamed: Option<LitStr>,
    /// Never stored: it has no handle.
    pub(crate) skipped: bool,
    /// Left out of some documents.
    pub(crate) sometimes: bool,
    /// Whether a missing value is left out, rather than stored as null.
    pub(crate) omits: bool,
    /// `default`: a missing field is read as a value of its own.
    pub(crate) default: Option<Ident>,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) flatten: Option<Ident>,
    /// The function that serializes it.
    pub(crate) encoder: Option<ExprPath>,
    /// The module after `with`, unless `bson_type` says what is stored.
    pub(crate) module: Option<Module>,
    /// Whether a missing field has a default, of its own or of the struct.
    pub(crate) has_default: bool,
    /// The function that deserializes it.
    pub(crate) decoder: Option<ExprPath>,
    pub(crate) attributes: FieldAttributes,
}

impl Field {
    /// Whether rows of joins have what the field refers to, by its name.
    pub(crate) fn is_joined(&self) -> bool {
        // The type of a reference does not say what another serializer stores for it, and `refers_to` does.
        let refers = self.attributes.refers_to.is_some()
            || (self.encoder.is_none() && rust_type::is_joined(&self.ty));
        refers && !self.skipped && self.flatten.is_none()
    }
}

/// An enum with data.
pub(crate) struct Enum {
    pub(crate) tagging: Tagging,
    pub(crate) variants: Vec<Variant>,
    /// The first variant that serde neither writes nor reads.
    pub(crate) skipped: Option<Ident>,
}

/// How serde marks which variant a value is.
pub(crate) enum Tagging {
    External,
    Internal(LitStr),
    Adjacent(LitStr, LitStr),
    Untagged,
}

/// A variant that is stored.
pub(crate) struct Variant {
    pub(crate) ident: Ident,
    pub(crate) stored: String,
    pub(crate) content: VariantContent,
}

impl Variant {
    /// The target of a variant that holds a DBRef and nothing else.
    pub(crate) fn db_ref(&self) -> Option<&Type> {
        match &self.content {
            VariantContent::Newtype(ty) => rust_type::db_ref(ty),
            _ => None,
        }
    }
}

/// The content of a variant.
pub(crate) enum VariantContent {
    Unit,
    Newtype(Box<Type>),
    /// The one value has a serializer of its own.
    Opaque,
    Tuple(Vec<Type>),
    Struct(Vec<Field>),
}

impl Shape {
    /// The shape of a struct.
    pub(crate) fn of_struct(
        input: &DeriveInput,
        data: &DataStruct,
        serde: &serde::Container,
        errors: &mut Errors,
    ) -> Self {
        if let Some(into) = &serde.into {
            return Self::Forward {
                ty: Box::new(into.clone()),
                wraps: false,
            };
        }
        match &data.fields {
            Fields::Named(named) => {
                let mut fields: Vec<Field> = named
                    .named
                    .iter()
                    .filter_map(|field| Field::new(field, serde.rename_all, serde.default, errors))
                    .collect();
                if serde.transparent.is_some() {
                    fields.retain(|field| !field.skipped);
                    return match fields.pop() {
                        Some(field) => {
                            let opaque = field.encoder.is_some();
                            nameless(&field.attributes, opaque, errors);
                            forward(field.ty, opaque, field.module, field.attributes, false)
                        }
                        None => Self::Unknown,
                    };
                }
                let name = serde
                    .rename
                    .as_ref()
                    .map_or_else(|| serde::unraw(&input.ident), LitStr::value);
                Self::Struct {
                    tag: serde.tag.clone().map(|tag| (tag, name)),
                    fields,
                }
            }
            Fields::Unnamed(unnamed) => {
                let mut stored = Vec::new();
                for field in &unnamed.unnamed {
                    let how = serde::field(&field.attrs, errors);
                    if !(how.skip || how.skip_serializing) {
                        let ident = Ident::new("value", proc_macro2::Span::call_site());
                        let attributes = parse::field::field(&field.attrs, &ident, errors);
                        nameless(&attributes, how.serialize_with.is_some(), errors);
                        stored.push((field.ty.clone(), how, attributes));
                    }
                }
                // serde writes a newtype as its inner value. With a second field, even a skipped one, it
                // writes an array, unless the struct is `transparent`.
                let newtype = unnamed.unnamed.len() == 1 || serde.transparent.is_some();
                match (newtype, stored.pop()) {
                    (true, Some((ty, how, attributes))) => forward(
                        ty,
                        how.serialize_with.is_some(),
                        how.module,
                        attributes,
                        unnamed.unnamed.len() == 1,
                    ),
                    (_, Some(last)) => {
                        stored.push(last);
                        let values = stored.into_iter().map(|(ty, how, _)| TupleValue {
                            ty,
                            is_opaque: how.serialize_with.is_some(),
                        });
                        Self::Tuple(values.collect())
                    }
                    (_, None) => {
                        errors.at(
                            &input.ident,
                            "nothing of this struct is stored; give it a field that is stored",
                        );
                        Self::Unknown
                    }
                }
            }
            Fields::Unit => {
                errors.at(
                    &input.ident,
                    "a struct without fields is stored as null; give it fields",
                );
                Self::Unknown
            }
        }
    }

    /// The shape of an enum.
    pub(crate) fn of_enum(data: &DataEnum, serde: &serde::Container, errors: &mut Errors) -> Self {
        if let Some(into) = &serde.into {
            return Self::Forward {
                ty: Box::new(into.clone()),
                wraps: false,
            };
        }
        let mut skipped = None;
        let mut variants: Vec<Variant> = Vec::new();
        for variant in &data.variants {
            match Variant::new(variant, serde, errors) {
                Some(one) => variants.push(one),
                None => skipped = skipped.or_else(|| Some(variant.ident.clone())),
            }
        }
        if variants.is_empty() {
            errors.at(
                data.enum_token,
                "an enum without variants has no values to store; give it variants",
            );
            return Self::Unknown;
        }
        let tagging = match (&serde.tag, &serde.content, serde.untagged) {
            (Some(tag), Some(content), _) => Tagging::Adjacent(tag.clone(), content.clone()),
            (Some(tag), None, _) => Tagging::Internal(tag.clone()),
            (None, _, Some(_)) => Tagging::Untagged,
            (None, _, None) => Tagging::External,
        };
        let data_less = variants
            .iter()
            .all(|variant| matches!(variant.content, VariantContent::Unit));
        if data_less && matches!(tagging, Tagging::External) {
            return Self::Choice(variants.into_iter().map(|variant| variant.stored).collect());
        }
        Self::Enum(Enum {
            tagging,
            variants,
            skipped,
        })
    }
}

/// Reports attributes that an unnamed value can't have.
fn nameless(attributes: &FieldAttributes, opaque: bool, errors: &mut Errors) {
    if let Some(word) = attributes.first_word() {
        errors.at(
            word,
            format!("`{word}` is for named fields; write it where this type is a field"),
        );
    }
    if let (Some(literal), false) = (&attributes.bson_type, opaque) {
        errors.at(literal, "`bson_type` is for a value with `#[serde(with = \"…\")]`; without one its stored type is known");
    }
}

fn forward(
    ty: Type,
    opaque: bool,
    module: Option<Module>,
    attributes: FieldAttributes,
    wraps: bool,
) -> Shape {
    if opaque {
        Shape::Opaque(Opaque {
            ty: Box::new(ty),
            module: module.filter(|_| attributes.bson_type.is_none()),
            bson_type: attributes.bson_type,
        })
    } else {
        Shape::Forward {
            ty: Box::new(ty),
            wraps,
        }
    }
}

impl Field {
    fn new(
        field: &syn::Field,
        case: Option<Case>,
        container_default: bool,
        errors: &mut Errors,
    ) -> Option<Self> {
        let ident = field.ident.clone()?;
        let serde = serde::field(&field.attrs, errors);
        let attributes = parse::field::field(&field.attrs, &ident, errors);
        let rust = serde::unraw(&ident);
        let stored = match (&serde.rename, case) {
            (Some(name), _) => name.value(),
            (None, Some(case)) => case.field(&rust),
            (None, None) => rust.clone(),
        };
        let has_default = serde.default.is_some() || container_default;
        Some(Self {
            ident,
            rust,
            ty: field.ty.clone(),
            stored,
            renamed: serde.rename,
            skipped: serde.skip || (serde.skip_serializing && serde.skip_deserializing),
            sometimes: serde.skip_serializing || serde.skip_serializing_if,
            omits: serde.skip_serializing_if,
            default: serde.default,
            aliases: serde.aliases,
            flatten: serde.flatten,
            encoder: serde.serialize_with,
            module: serde.module.filter(|_| attributes.bson_type.is_none()),
            has_default,
            decoder: serde.deserialize_with,
            attributes,
        })
    }
}

impl Variant {
    /// The name of its handle: `http_port` for `HttpPort`, with a `_` appended if that is a keyword.
    pub(crate) fn handle(&self) -> Ident {
        let name = snake(&serde::unraw(&self.ident));
        let span = self.ident.span();
        if syn::parse_str::<Ident>(&name).is_ok() {
            Ident::new(&name, span)
        } else {
            quote::format_ident!("{name}_", span = span)
        }
    }

    fn new(
        variant: &syn::Variant,
        container: &serde::Container,
        errors: &mut Errors,
    ) -> Option<Self> {
        let serde = serde::variant(&variant.attrs, errors);
        for attribute in &variant.attrs {
            if attribute.path().is_ident("odm") {
                errors.at(attribute, "odm has no attributes for variants; put them on the enum or on the variant's fields");
            }
        }
        if serde.skip {
            return None;
        }
        let rust = serde::unraw(&variant.ident);
        let stored = match (serde.rename, container.rename_all) {
            (Some(name), _) => name.value(),
            (None, Some(case)) => case.variant(&rust),
            (None, None) => rust,
        };
        let content = match &variant.fields {
            Fields::Unit => VariantContent::Unit,
            Fields::Unnamed(unnamed) => Self::unnamed(unnamed, errors),
            Fields::Named(named) => {
                let case = serde.rename_all.or(container.rename_all_fields);
                VariantContent::Struct(
                    named
                        .named
                        .iter()
                        .filter_map(|field| Field::new(field, case, false, errors))
                        .collect(),
                )
            }
        };
        Some(Self {
            ident: variant.ident.clone(),
            stored,
            content,
        })
    }

    fn unnamed(unnamed: &syn::FieldsUnnamed, errors: &mut Errors) -> VariantContent {
        let mut types = Vec::new();
        let mut opaque = false;
        for field in &unnamed.unnamed {
            for attribute in &field.attrs {
                if attribute.path().is_ident("odm") {
                    errors.at(attribute, "odm has no attributes for what a variant holds without a name; name the field: `Variant { field: … }`");
                }
            }
            let serde = serde::field(&field.attrs, errors);
            if !serde.skip && !serde.skip_serializing {
                opaque |= serde.serialize_with.is_some();
                types.push(field.ty.clone());
            }
        }
        match (unnamed.unnamed.len(), types.pop()) {
            (1, None) => VariantContent::Unit,
            (1, Some(_)) if opaque => VariantContent::Opaque,
            (1, Some(ty)) => VariantContent::Newtype(Box::new(ty)),
            (_, last) => {
                types.extend(last);
                VariantContent::Tuple(types)
            }
        }
    }
}
