use quote::ToTokens;
use syn::{DeriveInput, parse_quote};

use super::assertions::{Assertion, Flaw, Subject};
use super::field::Arity;
use super::{Facts, Implementation};
use crate::errors::Errors;
use crate::model::{Derive, Model};
use crate::parse::rule::{Bound, Rule};

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
        Subject::Field(field, _) => field.rust.clone(),
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
        Assertion::Defaults { field, .. } => format!("defaults {}", field.rust),
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
                Some((relation.arity, target))
            })
            .collect();
        let to = |arity, target: &str| Some((arity, target.to_owned()));
        let expected = [
            None,
            to(Arity::One, "Publisher"),
            to(Arity::AtMostOne, "Person"),
            to(Arity::Many, "Person"),
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

/// The indexes of a document, those that trees add last: `unique(parent, name)`.
fn indexes(input: &DeriveInput) -> Vec<String> {
    with_facts(input, Derive::Document, |facts| {
        let spelled = facts.indexes.iter().map(|index| {
            let keys: Vec<_> = index.keys.iter().map(|key| key.path.spelled()).collect();
            let is_unique = index.declared.unique.is_some();
            let word = if is_unique { "unique" } else { "index" };
            format!("{word}({})", keys.join(", "))
        });
        spelled.collect()
    })
}

#[test]
fn trees_add_indexes() {
    let paths = parse_quote! {
        #[odm(
            collection = "categories",
            tree(materialized_path, order = rank, scope = shop, unique_among_siblings(name, year))
        )]
        struct Category {
            _id: i32,
            shop: String,
            path: Materialized<Category>,
            rank: Rank,
            name: String,
            #[serde(with = "own")]
            year: i32,
        }
    };
    let expected = ["index(shop, path, rank)", "unique(shop, path, name, year)"];
    assert_eq!(indexes(&paths), expected);
    let all = parse_quote! {
        #[odm(
            collection = "categories",
            tree(nested_sets, parent = above, children = children, ancestors = ancestors, unique_among_siblings(name))
        )]
        struct Category {
            _id: i32,
            above: Parent<Category>,
            children: Children<Category>,
            ancestors: Ancestors<Category>,
            left: Left,
            right: Right,
            name: String,
        }
    };
    // The unique index serves searches by parent.
    let expected = [
        "index(children)",
        "index(ancestors)",
        "index(left)",
        "unique(above, name)",
    ];
    assert_eq!(indexes(&all), expected);
}

#[test]
fn declared_indexes_serve_trees() {
    let input = parse_quote! {
        #[odm(
            collection = "categories",
            tree(materialized_path, parent = parent, ancestors = ancestors),
            index(path = desc, name),
            unique(parent, name),
            index(ancestors = hashed),
            index(ancestors, name, sparse)
        )]
        struct Category {
            _id: i32,
            path: Materialized<Category>,
            parent: Parent<Category>,
            ancestors: Ancestors<Category>,
            name: String,
        }
    };
    let expected = [
        "index(path, name)",
        "unique(parent, name)",
        "index(ancestors)",
        "index(ancestors, name)",
        "index(ancestors)",
    ];
    assert_eq!(indexes(&input), expected);
}

#[test]
fn trees_add_rules() {
    let input = parse_quote! {
        #[odm(
            collection = "categories",
            tree(
                materialized_path,
                children = children,
                ancestors = ancestors,
                left = left,
                depth = depth,
                order = rank,
                count(descendants = size),
                max_depth = 4
            )
        )]
        struct Category {
            _id: i32,
            path: Materialized<Category>,
            children: Children<Category>,
            ancestors: Ancestors<Category>,
            left: Left,
            depth: Depth,
            #[odm(length(max = 40))]
            rank: Rank,
            size: NodeCount,
        }
    };
    let rule = |rule: &Rule| match rule {
        Rule::Range { min, max } => {
            let bound = |bound: &Option<Bound>| bound.map(|bound| bound.value.as_f64());
            format!("range {:?} to {:?}", bound(min), bound(max))
        }
        Rule::Items(size) => format!("items {:?} to {:?}", size.min, size.max),
        Rule::Pattern(pattern) => format!("pattern {}", pattern.value()),
        Rule::Length(size) => format!("length {:?} to {:?}", size.min, size.max),
        _ => "another".to_owned(),
    };
    with_facts(&input, Derive::Document, |facts| {
        let rules = facts.fields.iter().flat_map(|one| {
            let name = &one.field.rust;
            one.rules
                .iter()
                .map(move |one| format!("{name}: {}", rule(one)))
        });
        let expected = [
            "path: pattern ^,[\\s\\S]+,$",
            "children: items None to Some(5000)",
            "ancestors: items None to Some(4)",
            "left: range Some(1.0) to None",
            "depth: range Some(0.0) to Some(4.0)",
            "rank: length None to Some(40)",
            "size: range Some(0.0) to None",
        ];
        assert_eq!(rules.collect::<Vec<_>>(), expected);
    });
}
