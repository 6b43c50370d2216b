use quote::ToTokens;
use syn::{DeriveInput, parse_quote};

use super::assertions::{Assertion, Flaw, Subject};
use super::field::Cardinality;
use super::{Facts, Implementation};
use crate::errors::Errors;
use crate::model::{Derive, Model};
use crate::parse::rule::Rule;

/// Calls `test` with the facts about `input`, which `check` accepts.
fn with_facts<T>(input: &DeriveInput, derive: Derive, test: impl Fn(&Facts<'_>) -> T) -> T {
    let mut errors = Errors::default();
    let model = Model::new(input, derive, &mut errors);
    let facts = Facts::new(&model);
    crate::check::model(&facts, &mut errors);
    assert_eq!(errors.finish().to_string(), "");
    test(&facts)
}

fn subject(subject: &Subject<'_>) -> String {
    match subject {
        Subject::Field(field) => field.rust.clone(),
        Subject::Value(ty) => quote::quote!(#ty).to_string(),
        Subject::Nested(path) => path.spelled(),
    }
}

/// An assertion without its span and its message.
fn summary(assertion: &Assertion<'_>) -> String {
    let ty = |ty: &syn::Type| quote::quote!(#ty).to_string();
    match assertion {
        Assertion::Holds {
            test, subject: of, ..
        } => format!("{test} {}", subject(of)),
        Assertion::Sound { flaw, .. } => match flaw {
            Flaw::Undeclared(of, declared) => format!("{declared} {}", subject(of)),
            Flaw::Null(one) => format!("null {}", ty(one)),
            Flaw::Tuple(one) => format!("tuple {}", ty(one)),
            Flaw::Id(field) => format!("id {}", field.rust),
        },
        Assertion::NoFieldNamed { ty: one, name, .. } => {
            format!("{} without {}", ty(one), name.value())
        }
        Assertion::NoSharedName {
            types: [one, other],
            ..
        } => {
            format!("{} apart from {}", ty(one), ty(other))
        }
        Assertion::NotParallel { keys, .. } => {
            let keys = keys.each_ref().map(|key| {
                let subjects: Vec<_> = key.iter().map(subject).collect();
                subjects.join(" or ")
            });
            format!("not both arrays: {}", keys.join(", "))
        }
        Assertion::Evaluated(one) => format!("evaluated {}", ty(one)),
    }
}

#[track_caller]
fn asserts(input: &DeriveInput, derive: Derive, constants: &[&str], deferred: &[&str]) {
    with_facts(input, derive, |facts| {
        let summaries = |list: &[Assertion<'_>]| list.iter().map(summary).collect::<Vec<_>>();
        let groups = facts.assertions.constants.iter();
        let groups: Vec<_> = groups.map(|group| summaries(group).join("; ")).collect();
        assert_eq!(groups, constants);
        assert_eq!(summaries(&facts.assertions.deferred), deferred);
    });
}

#[test]
fn attributes_of_unknown_types_are_asserted() {
    let input = parse_quote! {
        #[odm(deny_undeclared)]
        struct Guest {
            name: String,
            #[odm(length(max = 10))]
            nick: Nick,
            #[odm(embed(few, max = 3))]
            stays: Stays,
            #[serde(flatten)]
            rest: Rest,
        }
    };
    let constants = [
        "Nothing nick; is_text nick",
        "Few stays; has_elements stays",
        "Flattened rest; has_fields rest; is_no_map rest",
        "Rest without name; Rest without nick; Rest without stays",
    ];
    asserts(&input, Derive::Embedded, &constants, &[]);
}

#[test]
fn keys_that_may_be_arrays_are_asserted() {
    let input = parse_quote! {
        #[odm(collection = "guests", index(name, nicks, home.city), ttl(seen, after = "1d"))]
        struct Guest {
            _id: i32,
            name: Name,
            nicks: Vec<String>,
            home: Home,
            seen: Seen,
        }
    };
    let constants = [
        "Nothing name",
        "Nothing home",
        "Nothing seen",
        "not both arrays: name, nicks; not both arrays: name, home; not both arrays: nicks, home; \
         not both arrays: name, home or home.city; not both arrays: nicks, home or home.city; is_date seen",
    ];
    asserts(&input, Derive::Document, &constants, &[]);
}

#[test]
fn types_with_parameters_are_asserted_later() {
    let input = parse_quote! {
        struct Page<T> {
            items: Vec<T>,
            next: Page<i32>,
        }
    };
    let constants = ["Nothing next", "evaluated Page < i32 >"];
    asserts(&input, Derive::Embedded, &constants, &["Nothing items"]);
}

#[test]
fn tags_are_asserted_beside_the_fields_of_a_variant() {
    let input = parse_quote! {
        #[serde(tag = "kind")]
        enum Shape {
            Circle(Circle),
            Empty,
        }
    };
    let constants = ["Nameless Circle; takes_a_tag Circle; Circle without kind"];
    asserts(&input, Derive::Embedded, &constants, &[]);
}

#[test]
fn relations_and_merged_rules() {
    let input = parse_quote! {
        #[odm(collection = "books")]
        struct Book {
            _id: i32,
            publisher: Ref<Publisher>,
            editor: Option<Ref<Person>>,
            #[odm(references(many, max = 8), items(min = 1))]
            authors: Vec<Ref<Person>>,
            #[odm(embed(few, max = 5))]
            chapters: Vec<Chapter>,
        }
    };
    with_facts(&input, Derive::Document, |facts| {
        assert!(matches!(facts.implementation, Implementation::Struct(_)));
        assert_eq!(
            facts.id.as_ref().map(|id| id.field.rust.as_str()),
            Some("_id")
        );
        let relations: Vec<_> = facts
            .fields
            .iter()
            .map(|one| {
                let relation = one.relation.as_ref()?;
                let target = relation.target.to_token_stream().to_string();
                Some((relation.cardinality, target))
            })
            .collect();
        let to = |cardinality, target: &str| Some((cardinality, target.to_owned()));
        let expected = [
            None,
            to(Cardinality::One, "Publisher"),
            to(Cardinality::AtMostOne, "Person"),
            to(Cardinality::Many, "Person"),
            None,
        ];
        assert_eq!(relations, expected);
        let sizes: Vec<_> = facts
            .fields
            .iter()
            .flat_map(|one| &one.rules)
            .map(|rule| match rule {
                Rule::Items(size) => (size.min, size.max),
                _ => (None, None),
            })
            .collect();
        assert_eq!(sizes, [(Some(1), Some(8)), (None, Some(5))]);
    });
}

#[test]
fn refused_input_gets_the_fallback() {
    let input = parse_quote!(
        struct Book<'a> {
            title: &'a str,
        }
    );
    let mut errors = Errors::default();
    let model = Model::new(&input, Derive::Document, &mut errors);
    let implementation = Facts::new(&model).implementation;
    assert!(matches!(implementation, Implementation::Fallback));
    assert!(errors.finish().is_empty());
}
