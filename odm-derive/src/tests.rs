//! What the derives write, as it would be formatted; and what holds of all of it.

use proc_macro2::{TokenStream, TokenTree};
use syn::{DeriveInput, Fields, Item, Visibility, parse_quote};

use crate::errors::Errors;
use crate::model::Derive;

fn formatted(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).unwrap())
}

fn a_document() -> DeriveInput {
    parse_quote! {
        #[odm(
            collection = "books",
            index(title, year = desc),
            index(contact.name, sparse, name = "byContact"),
            unique(isbn, partial = |b| b.isbn.exists(true)),
            ttl(seen, after = "30d"),
            text(title(weight = 10), default_language = "english"),
            rule("known", |b| b.title.ne("")),
            validation(level = "moderate", action = "warn"),
            collation(locale = "en", strength = 2)
        )]
        #[serde(rename_all = "camelCase")]
        pub struct Book {
            #[serde(rename = "_id")]
            id: i32,
            #[odm(length(min = 1, max = 200), index(desc, hidden))]
            title: String,
            #[odm(range(min = 1450, exclusive_max = 2100.5))]
            year_of_print: Option<i32>,
            year: i32,
            isbn: Option<String>,
            contact: Contact,
            seen: When,
            #[odm(version)]
            version: i64,
            #[odm(created_at)]
            created_at: DateTime,
            #[odm(updated_at(server))]
            updated_at: Option<DateTime>,
            #[serde(skip)]
            scratch: String,
        }
    }
}

fn a_page() -> DeriveInput {
    parse_quote! {
        #[odm(crate = renamed::odm, deny_undeclared)]
        pub(crate) struct Page<'a, T: Copy = i32, const N: usize = 3>
        where
            T: PartialEq,
        {
            items: Vec<T>,
            name: Cow<'a, str>,
            #[serde(with = "stamp")]
            #[odm(bson_type = "date")]
            time: Option<Time>,
            #[serde(flatten)]
            rest: Rest,
        }
    }
}

fn a_shape() -> DeriveInput {
    parse_quote! {
        #[serde(tag = "kind")]
        pub enum Shape {
            Circle { radius: f64 },
            Other(Inner),
            Nothing,
        }
    }
}

fn a_medium() -> DeriveInput {
    parse_quote! {
        #[odm(collection = "media", index(book.title))]
        #[serde(tag = "kind", rename_all = "camelCase")]
        pub enum Medium {
            Book(Book),
            SilentFilm {
                #[serde(rename = "_id")]
                id: Id<Medium>,
                #[odm(unique)]
                reel: i32,
            },
        }
    }
}

fn a_variant() -> DeriveInput {
    parse_quote! {
        #[odm(variant_of = Medium)]
        pub struct Book {
            #[serde(rename = "_id")]
            id: Id<Medium>,
            title: String,
        }
    }
}

fn a_tree() -> DeriveInput {
    parse_quote! {
        #[odm(
            collection = "categories",
            tree(
                materialized_path,
                parent = above,
                order = rank,
                scope = shop,
                max_depth = 4,
                on_delete = make_roots,
                name = ByRegion
            ),
            tree(child_references, graph, count(children = size), name = BySubject)
        )]
        pub struct Category {
            #[serde(rename = "_id")]
            id: i32,
            shop: Ref<Shop>,
            #[serde(rename = "line")]
            path: Materialized<Category>,
            above: Parent<Category, ZeroRoot>,
            rank: Rank,
            children: Children<Category>,
            size: NodeCount,
        }
    }
}

fn a_view() -> DeriveInput {
    parse_quote! {
        #[odm(collection = "in_print", view(on = Book, pipeline = stages), collation(locale = "en"))]
        struct InPrint {
            #[serde(rename = "_id")]
            id: i32,
        }
    }
}

fn all() -> Vec<DeriveInput> {
    vec![
        a_document(),
        a_tree(),
        a_page(),
        a_shape(),
        a_medium(),
        a_variant(),
        parse_quote!(
            struct Isbn(String);
        ),
        parse_quote!(
            struct Point(i32, i32);
        ),
        parse_quote!(
            struct When(
                #[serde(with = "stamp")]
                #[odm(bson_type = "date")]
                Time,
            );
        ),
        parse_quote!(
            enum Colour {
                Red,
                Green,
            }
        ),
    ]
}

fn derived(input: &DeriveInput) -> TokenStream {
    let documents = input.attrs.iter().any(|attribute| {
        let text = quote::quote!(#attribute).to_string();
        text.contains("collection") || text.contains("variant_of")
    });
    let derive = if documents {
        Derive::Document
    } else {
        Derive::Embedded
    };
    crate::derive(input, derive)
}

/// One snapshot for each file of `expand`, of what that file alone writes.
mod snapshots {
    use super::*;
    use crate::expand;
    use crate::facts::{Facts, Implementation};
    use crate::model::Model;
    use crate::model::projection::Projection;

    /// What `expand` writes, by the facts about `input`.
    fn expanded(
        input: &DeriveInput,
        derive: Derive,
        expand: impl Fn(&Facts<'_>) -> TokenStream,
    ) -> String {
        let mut errors = Errors::default();
        let model = Model::new(input, derive, &mut errors);
        let facts = Facts::new(&model);
        crate::check::model(&facts, &mut errors);
        assert_eq!(errors.finish().to_string(), "");
        formatted(expand(&facts))
    }

    #[test]
    fn fields() {
        insta::assert_snapshot!(expanded(&a_page(), Derive::Embedded, |facts| {
            expand::fields::of_struct(facts.model, facts.model.fields())
        }));
    }

    #[test]
    fn handle_type() {
        let of = |input: DeriveInput| formatted(crate::derive(&input, Derive::Embedded));
        insta::assert_snapshot!(
            [
                of(parse_quote!(
                    struct Loan {
                        to: Vec<Person>,
                        by: Option<Person>,
                        days: i32,
                    }
                )),
                of(parse_quote!(
                    struct Borrower(Person);
                )),
            ]
            .join("\n")
        );
    }

    #[test]
    fn field_type() {
        let of = |input: DeriveInput| formatted(crate::derive(&input, Derive::Embedded));
        insta::assert_snapshot!(
            [
                of(parse_quote!(
                    struct Isbn(String);
                )),
                of(parse_quote!(
                    struct Point(i32, i32);
                )),
                of(parse_quote!(
                    struct When(
                        #[serde(with = "stamp")]
                        #[odm(bson_type = "date")]
                        Time,
                    );
                )),
                of(parse_quote!(
                    #[serde(rename_all = "lowercase")]
                    enum Colour {
                        Red,
                        Green,
                    }
                )),
            ]
            .join("\n")
        );
    }

    #[test]
    fn embedded() {
        insta::assert_snapshot!(expanded(
            &a_page(),
            Derive::Embedded,
            expand::embedded::of_struct
        ));
    }

    #[test]
    fn encoder() {
        insta::assert_snapshot!(expanded(&a_page(), Derive::Embedded, |facts| {
            expand::encoder::all(facts.model, facts.model.fields())
        }));
    }

    #[test]
    fn enumeration() {
        insta::assert_snapshot!(expanded(&a_shape(), Derive::Embedded, |facts| {
            let Implementation::Enum { shape, .. } = &facts.implementation else {
                panic!("an enum with data");
            };
            let mut tokens = expand::enumeration::fields(facts.model, shape, None);
            tokens.extend(expand::embedded::of_enum(facts, shape));
            tokens
        }));
    }

    #[test]
    fn document() {
        insta::assert_snapshot!(expanded(&a_document(), Derive::Document, |facts| {
            expand::document::of_struct(facts, facts.id.as_ref().unwrap())
        }));
    }

    #[test]
    fn document_enum() {
        insta::assert_snapshot!(expanded(&a_medium(), Derive::Document, |facts| {
            expand::document_enum::document(facts, facts.document_enum.as_ref().unwrap())
        }));
        insta::assert_snapshot!(
            "document_enum_variant",
            expanded(&a_variant(), Derive::Document, |facts| {
                expand::document::of_struct(facts, facts.id.as_ref().unwrap())
            })
        );
    }

    #[test]
    fn view() {
        insta::assert_snapshot!(expanded(&a_view(), Derive::Document, |facts| {
            expand::document::of_struct(facts, facts.id.as_ref().unwrap())
        }));
    }

    #[test]
    fn meta() {
        insta::assert_snapshot!(expanded(&a_document(), Derive::Document, |facts| {
            let fields = expand::meta::of_struct(facts);
            quote::quote!(const FIELDS: &[FieldMeta] = &[#fields];)
        }));
    }

    #[test]
    fn assertions() {
        insta::assert_snapshot!(expanded(
            &a_document(),
            Derive::Document,
            expand::assertions::all
        ));
    }

    #[test]
    fn tree() {
        insta::assert_snapshot!(expanded(&a_tree(), Derive::Document, |facts| {
            let mut tokens = expand::tree::all(facts);
            tokens.extend(expand::tree::checks(facts));
            tokens
        }));
    }

    #[test]
    fn projection() {
        let input: DeriveInput = parse_quote! {
            #[odm(of = Book)]
            struct Part {
                #[serde(rename = "_id")]
                id: i32,
                title: Option<String>,
            }
        };
        let mut errors = Errors::default();
        let projection = Projection::new(&input, &mut errors);
        assert_eq!(errors.finish().to_string(), "");
        let mut tokens = expand::projection::projection(&projection);
        tokens.extend(expand::projection::checks(&projection));
        insta::assert_snapshot!(formatted(tokens));
    }

    #[test]
    fn fallback() {
        let input = parse_quote!(union Both { a: i32 });
        insta::assert_snapshot!(formatted(crate::derive(&input, Derive::Document)));
    }
}

#[test]
fn expansion_is_deterministic() {
    for input in all() {
        assert_eq!(derived(&input).to_string(), derived(&input).to_string());
    }
}

/// Every public item is documented, so that a user's `missing_docs` is not ours to break.
#[test]
fn public_items_are_documented() {
    let documented = |attributes: &[syn::Attribute]| {
        attributes
            .iter()
            .any(|attribute| attribute.path().is_ident("doc"))
    };
    let mut seen = 0;
    for input in all() {
        let file: syn::File = syn::parse2(derived(&input)).unwrap();
        for item in file.items {
            match item {
                Item::Struct(item) if matches!(item.vis, Visibility::Public(_)) => {
                    seen += 1;
                    assert!(documented(&item.attrs), "{}", item.ident);
                    let Fields::Named(fields) = item.fields else {
                        continue;
                    };
                    for field in fields.named {
                        let public = matches!(field.vis, Visibility::Public(_));
                        assert!(!public || documented(&field.attrs), "{}", item.ident);
                    }
                }
                Item::Enum(item) => assert!(documented(&item.attrs), "{}", item.ident),
                _ => {}
            }
        }
    }
    assert!(seen >= 3);
}

/// Generated code names only `odm::support`, by the name that `crate = …` gives.
#[test]
fn only_support_is_named() {
    fn idents(tokens: TokenStream, all: &mut Vec<String>) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => all.push(ident.to_string()),
                TokenTree::Group(group) => idents(group.stream(), all),
                _ => {}
            }
        }
    }
    for input in all() {
        let mut names = Vec::new();
        idents(derived(&input), &mut names);
        for pair in names.windows(2) {
            if pair[0] == "odm" {
                assert_eq!(pair[1], "support", "in the expansion of {}", input.ident);
            }
        }
    }
    let mut names = Vec::new();
    idents(derived(&a_page()), &mut names);
    for pair in names.windows(2) {
        assert!(pair[1] != "odm" || pair[0] == "renamed");
    }
}

/// No input makes a derive panic.
#[test]
fn odd_input_does_not_panic() {
    let inputs: Vec<DeriveInput> = vec![
        parse_quote!(
            struct Unit;
        ),
        parse_quote!(
            struct Empty {}
        ),
        parse_quote!(
            struct Nothing();
        ),
        parse_quote!(
            enum Never {}
        ),
        parse_quote!(
            #[serde(transparent)]
            struct None_ {
                #[serde(skip)]
                a: i32,
            }
        ),
        parse_quote!(
            #[odm]
            struct Bare {
                a: i32,
            }
        ),
        parse_quote!(
            #[odm()]
            struct Hollow {
                a: i32,
            }
        ),
        parse_quote!(
            #[odm(index(a.b.))]
            struct Dots {
                a: i32,
            }
        ),
        parse_quote!(
            #[odm(collection)]
            struct NoValue {
                a: i32,
            }
        ),
        parse_quote!(
            #[odm(rule("a"))]
            struct NoFilter {
                a: i32,
            }
        ),
        parse_quote!(
            #[serde(rename = "")]
            struct Nameless {
                #[serde(rename = "")]
                a: i32,
            }
        ),
        parse_quote!(
            struct Deep {
                a: Vec<Option<Box<Vec<[Ref<Deep>; 3]>>>>,
            }
        ),
        parse_quote!(
            enum Mixed {
                #[serde(skip)]
                A,
                B(#[serde(skip)] i32),
                C(i32, #[serde(skip)] i32),
                D {},
            }
        ),
    ];
    for input in inputs {
        for derive in [Derive::Document, Derive::Embedded] {
            syn::parse2::<syn::File>(crate::derive(&input, derive)).unwrap();
        }
        syn::parse2::<syn::File>(crate::project(&input)).unwrap();
    }
}
