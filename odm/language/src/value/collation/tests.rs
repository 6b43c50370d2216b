use super::*;
use bson::{RawDocumentBuf, rawdoc};

fn parse(document: &RawDocumentBuf) -> Result<Option<Collator>, ServerError> {
    Collator::parse(document, "collation")
}

#[test]
fn the_normalized_collation_has_every_default() {
    let collator = parse(&rawdoc! { "locale": "fr_CA" }).unwrap().unwrap();
    assert_eq!(
        collator.document(),
        doc! {
            "locale": "fr_CA", "caseLevel": false, "caseFirst": "off", "strength": 3,
            "numericOrdering": false, "alternate": "non-ignorable", "maxVariable": "punct",
            "normalization": false, "backwards": true, "version": "57.1",
        }
    );
    assert_eq!(parse(&rawdoc! { "locale": "simple" }).unwrap(), None);
}

/// mongod has tailored orders for them: the root order would be wrong.
#[test]
fn locales_without_collation_data_are_refused() {
    for locale in ["haw", "kl", "lkt", "ln", "se", "smn", "yi", "en_US_POSIX"] {
        let error = parse(&rawdoc! { "locale": locale }).unwrap_err();
        assert_eq!(error.code(), Code::NOT_IMPLEMENTED, "{locale}");
    }
    for locale in ["en@collation=emoji", "kn@collation=traditional"] {
        assert!(parse(&rawdoc! { "locale": locale }).is_ok(), "{locale}");
    }
}

#[test]
fn refusals_agree_with_mongod() {
    let check = |document: RawDocumentBuf, code: i32, message: &str| {
        let error = parse(&document).unwrap_err();
        assert_eq!((error.code().number(), error.message()), (code, message));
    };
    check(
        rawdoc! {},
        40414,
        "BSON field 'collation.locale' is missing but a required field",
    );
    check(
        rawdoc! { "locale": "en", "foo": 1 },
        40415,
        "BSON field 'collation.foo' is an unknown field.",
    );
    check(
        rawdoc! { "locale": "zz" },
        2,
        "Field 'locale' is invalid in: { locale: \"zz\" }",
    );
    check(
        rawdoc! { "locale": "en-US" },
        2,
        "Field 'locale' is invalid in: { locale: \"en-US\" }. Did you mean 'en_US'?",
    );
    check(
        rawdoc! { "locale": "de_DE@collation=phonebook;x=y" },
        2,
        "Field 'locale' is invalid in: { locale: \"de_DE@collation=phonebook;x=y\" }. Did you mean 'de@collation=phonebook'?",
    );
    check(
        rawdoc! { "locale": "de@" },
        2,
        "Field 'locale' is invalid in: { locale: \"de@\" }",
    );
    check(
        rawdoc! { "locale": "en", "strength": 6 },
        51024,
        "BSON field 'strength' value must be <= 5, actual value '6'",
    );
    check(
        rawdoc! { "locale": "en", "strength": f64::NAN },
        2,
        "Enumeration value '0' for field 'collation.strength' is not a valid value.",
    );
    check(
        rawdoc! { "locale": "en", "caseLevel": 1 },
        14,
        "BSON field 'collation.caseLevel' is the wrong type 'int', expected type 'bool'",
    );
    check(
        rawdoc! { "locale": "en", "strength": 1, "backwards": true },
        2,
        "'backwards' is invalid with 'strength' of 1 in: \
         { locale: \"en\", strength: 1, backwards: true }",
    );
}

#[test]
fn strings_compare_by_collation() {
    let check = |document: RawDocumentBuf, a: &str, b: &str, expected: Ordering| {
        let collator = parse(&document).unwrap().unwrap();
        assert_eq!(collator.compare(a, b), expected, "{a} {b} {document:?}");
        let key = |text: &str| {
            let mut bytes = Vec::new();
            collator.append_key(text, &mut bytes);
            bytes
        };
        assert_eq!(key(a).cmp(&key(b)), expected, "{a} {b} {document:?}");
    };
    check(rawdoc! { "locale": "en" }, "a", "B", Ordering::Less);
    check(rawdoc! { "locale": "en" }, "a", "A", Ordering::Less);
    check(
        rawdoc! { "locale": "en", "strength": 2 },
        "a",
        "A",
        Ordering::Equal,
    );
    check(
        rawdoc! { "locale": "en", "strength": 1 },
        "cote",
        "côté",
        Ordering::Equal,
    );
    check(
        rawdoc! { "locale": "en", "caseFirst": "upper" },
        "a",
        "A",
        Ordering::Greater,
    );
    check(
        rawdoc! { "locale": "en", "numericOrdering": true },
        "a10",
        "a9",
        Ordering::Greater,
    );
    check(rawdoc! { "locale": "en" }, "a10", "a9", Ordering::Less);
    check(
        rawdoc! { "locale": "fr_CA" },
        "coté",
        "côte",
        Ordering::Greater,
    );
    check(rawdoc! { "locale": "fr" }, "coté", "côte", Ordering::Less);
    check(
        rawdoc! { "locale": "en", "alternate": "shifted" },
        "a-b",
        "ab",
        Ordering::Equal,
    );
}

/// `{words, orders: [{collation, groups}]}`: indexes of words in the order of mongod, equal ones
/// together.
#[test]
fn words_sort_as_on_mongod() {
    let cases = crate::cases::read("value/collation");
    let mut failures = Vec::new();
    for case in &cases {
        let words: Vec<&str> = case
            .get_array("words")
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap())
            .collect();
        for order in case.get_array("orders").unwrap() {
            let order = order.as_document().unwrap();
            let document = order.get_document("collation").unwrap();
            let collator = parse(&RawDocumentBuf::try_from(document).unwrap())
                .unwrap()
                .unwrap();
            let groups = order.get_array("groups").unwrap();
            let placed: Vec<(usize, &str)> = groups
                .iter()
                .enumerate()
                .flat_map(|(place, group)| {
                    let members = group.as_array().unwrap().iter();
                    members.map(move |index| (place, index.as_i32().unwrap()))
                })
                .map(|(place, index)| (place, words[usize::try_from(index).unwrap()]))
                .collect();
            for pair in placed.windows(2) {
                let [(x, a), (y, b)] = pair else { continue };
                let found = collator.compare(a, b);
                if found != x.cmp(y) {
                    failures.push(format!("{document}: {a:?} {found:?} {b:?}"));
                }
            }
        }
    }
    crate::cases::report(&failures, cases.len());
}

#[test]
fn unsupported_collation_options_are_refused() {
    for document in [
        rawdoc! { "locale": "en_US_POSIX" },
        rawdoc! { "locale": "en@collation=search" },
        rawdoc! { "locale": "zh@collation=big5han" },
        rawdoc! { "locale": "en", "backwards": true },
    ] {
        let error = parse(&document).unwrap_err();
        assert_eq!(error.code().number(), 238, "{document:?}: {error}");
    }
}
