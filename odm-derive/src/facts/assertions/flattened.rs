//! Assertions that a flattened struct shares no stored name with the struct around it, or with another
//! flattened one.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{LitStr, Type};

use super::Assertion;
use crate::facts::field::FieldFacts;
use crate::model::Field;
use crate::model::rust_type::{Kind, kind, without_option};

pub(super) fn all<'a>(fields: &[FieldFacts<'a>]) -> Vec<Assertion<'a>> {
    let own = || {
        let fields = fields.iter().filter(|one| one.variant.is_none());
        fields.filter(|one| !one.field.skipped)
    };
    let inside: Vec<(&Field, &Type)> = own()
        .filter(|one| one.field.flatten.is_some() && one.field.encoder.is_none())
        .filter(|one| !one.depends_on_parameter)
        .map(|one| (one.field, without_option(&one.field.ty)))
        .filter(|(_, ty)| matches!(kind(ty), Kind::Unknown))
        .collect();
    let mut assertions = Vec::new();
    for (position, &(field, ty)) in inside.iter().enumerate() {
        let rust = &field.rust;
        for other in own().filter(|other| other.field.flatten.is_none()) {
            let (other, stored) = (&other.field.rust, &other.field.stored);
            assertions.push(Assertion::NoFieldNamed {
                span: ty.span(),
                ty,
                probed: true,
                name: LitStr::new(stored, Span::call_site()),
                message: format!(
                    "`{other}` and a field of `{rust}`, which is flattened, are both stored as `{stored}`; rename one"
                ),
            });
        }
        for &(other, other_ty) in inside.iter().take(position) {
            assertions.push(Assertion::NoSharedName {
                span: ty.span(),
                types: [other_ty, ty],
                message: format!(
                    "`{}` and `{rust}` are flattened, and a field of each is stored under the same name; rename one",
                    other.rust
                ),
            });
        }
    }
    assertions
}
