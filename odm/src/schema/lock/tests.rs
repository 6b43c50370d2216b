//! Texts that are changed, and what is said about the change.

use super::file::{Mode, check};
use super::*;

const BOOKS: &str = r#"odm-lock 1

collection books model Book version 1
  field "odd: \"name\".x": bool default
  field _id: int required
  field authors: array required maxItems=50
  field authors[]: object
  field authors[].born: int|null default
  field authors[].name: string required
  field cover<"hard cover">: object tagging="internal kind"
  field cover<"hard cover">.weight: double required minimum=0.5
  field note: null|string optional
  field publisher: string required ref="publishers"
  field status: string required enum=["lent","sold"]
  field year: int required alias=["published"] maximum=2100 minimum=1450
  option capped: {"size":4096,"max":100}
  index title_1: {"key":{"title":1}}
  index year_1: {"key":{"year":1},"expireAfterSeconds":60}
  rule "in stock": {"available":{"$gte":0}}
  tree tree: {"parent":"parent","pattern":"parent_references"}

collection "name of it" model Other version 1
"#;

fn parsed(text: &str) -> Lock {
    Lock::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_text_is_read_as_it_was_written() {
    let lock = parsed(BOOKS);
    assert_eq!(lock.to_string(), BOOKS);
    assert_eq!(lock.models.len(), 2);
    let crlf = format!("\u{feff}{}", BOOKS.replace('\n', "\r\n"));
    assert_eq!(parsed(&crlf), lock);
    // The order of lines is not that of the file.
    let mut lines: Vec<_> = BOOKS.lines().skip(3).take(17).collect();
    lines.reverse();
    let head: Vec<_> = BOOKS.lines().take(3).collect();
    let turned = format!("{}\n{}\n", head.join("\n"), lines.join("\n"));
    assert_eq!(
        parsed(&turned).models.get("books"),
        lock.models.get("books")
    );
}

#[test]
fn bad_lines_are_named_by_their_number() {
    for (text, message) in [
        ("", "line 1: a lock file begins with `odm-lock 1`"),
        ("odm-lock", "line 1: a lock file begins with"),
        ("odm-lock 0\n", "line 1: a lock file begins with"),
        ("odm-lock x\n", "line 1: a lock file begins with"),
        (
            "odm-lock 2\n",
            "line 1: the file has format 2, and this version of odm reads format 1: update odm",
        ),
        (
            "<<<<<<< HEAD\nodm-lock 1\n",
            "line 1: a marker of a merge conflict",
        ),
        (
            "odm-lock 1\n\n=======\n",
            "line 3: a marker of a merge conflict",
        ),
        ("odm-lock 1\n|||||||", "line 2: a marker"),
        ("odm-lock 1\n>>>>>>> theirs", "line 2: a marker"),
        (
            "odm-lock 1\nhello",
            "line 2: no line of a lock file: \"hello\"",
        ),
        (
            "odm-lock 1\n  field a: int",
            "line 2: a line of a model stands before",
        ),
        (
            "odm-lock 1\ncollection a model A",
            "line 2: expected `collection NAME model NAME version NUMBER`",
        ),
        (
            "odm-lock 1\ncollection a model A version 0",
            "line 2: the version is a number from 1 on",
        ),
        (
            "odm-lock 1\ncollection a model A version 1\ncollection a model B version 1",
            "line 3: the collection `a` is listed before",
        ),
    ] {
        let error = Lock::parse(text).unwrap_err().to_string();
        assert!(error.contains(message), "{text:?}: {error}");
    }
    for (line, message) in [
        ("field a", "expected `field PATH: TYPE …`"),
        ("field \"a: int", "expected `field PATH: TYPE …`"),
        ("field a: number", "\"number\" is no type"),
        ("field a: int|", "\"\" is no type"),
        ("field a: int needed", "\"needed\" is neither"),
        ("field a: int required default", "\"default\" is neither"),
        ("field a: int minimum=", "a value is missing"),
        ("field a: int minimum=x", "no JSON"),
        (
            "field a: int minimum=1 minimum=2",
            "the keyword \"minimum\" is empty, or stands twice",
        ),
        ("field a: int enum=[1]x", "expected a space"),
        ("index a {}", "expected `: `"),
        ("index \"a: {}", "no JSON"),
        ("index a: {} {}", "unexpected \" {}\""),
        ("view a: {}", "no line of a lock file"),
    ] {
        let text = format!("odm-lock 1\ncollection a model A version 1\n  {line}\n");
        let error = Lock::parse(&text).unwrap_err().to_string();
        assert!(
            error.contains("line 3: ") && error.contains(message),
            "{line}: {error}"
        );
    }
    let twice = "odm-lock 1\ncollection a model A version 1\n  field a: int\n  field a: int\n";
    let error = Lock::parse(twice).unwrap_err().to_string();
    assert!(
        error.contains("line 4: this is listed before, perhaps by a merge"),
        "{error}"
    );
}

/// What is said if `from` is `to` in the new text, as `impact subject step`.
fn said(from: &str, to: &str) -> Vec<String> {
    assert!(BOOKS.contains(from), "{from}");
    let (old, new) = (parsed(BOOKS), parsed(&BOOKS.replacen(from, to, 1)));
    let changes = Lock::compare(&old, &new);
    assert!(old == new || !changes.is_empty(), "{from} -> {to}");
    assert!(Lock::compare(&new, &new).is_empty());
    let said = changes.iter().map(|change| {
        let step = change.step.as_deref().unwrap_or("-");
        format!("{} | {} | {step}", change.impact, change.subject)
    });
    said.collect()
}

#[test]
fn changes_are_classified() {
    for (from, to, expected) in [
        // Fields.
        (
            "  field note",
            "  field extra: int default\n  field note",
            "compatible | extra | -",
        ),
        (
            "  field note",
            "  field extra: int optional\n  field note",
            "compatible | extra | -",
        ),
        (
            "  field note",
            "  field extra: int required\n  field note",
            "needs a rewrite | extra | set_extra",
        ),
        (
            "  field note",
            "  field extra: int default summary=\"count of loans\"\n  field note",
            "needs a rewrite | extra | refresh_extra",
        ),
        (
            "  field status: string required enum=[\"lent\",\"sold\"]\n",
            "",
            "loses data | status | unset_status",
        ),
        (
            "field note:",
            "field shortRemark:",
            "needs a rewrite | shortRemark | rename_note_to_short_remark",
        ),
        (
            "int required alias=[\"published\"] maximum",
            "int required maximum",
            "needs a rewrite | year | rename_year",
        ),
        (
            "alias=[\"published\"]",
            "alias=[\"issued\",\"published\"]",
            "compatible | year | -",
        ),
        (
            "field authors[].name: string required",
            "field authors[].name: string default",
            "compatible | authors[].name | -",
        ),
        (
            "field authors[].born: int|null default",
            "field authors[].born: int|null required",
            "needs a rewrite | authors[].born | set_authors_born",
        ),
        (
            "note: null|string optional",
            "note: string optional",
            "needs a rewrite | note | replace_null_in_note",
        ),
        (
            "authors[].name: string",
            "authors[].name: null|string",
            "compatible | authors[].name | -",
        ),
        // What is inside a value of another type is not listed.
        (
            "  field authors[]: object\n  field authors[].born: int|null default\n  field authors[].name: string required\n",
            "  field authors[]: string\n",
            "needs a rewrite | authors[] | convert_authors",
        ),
        // Types.
        (
            "year: int",
            "year: long",
            "needs a rewrite | year | convert_year",
        ),
        ("year: int", "year: int|long", "compatible | year | -"),
        ("year: int", "year: any", "compatible | year | -"),
        (
            "year: int",
            "year: string",
            "needs a rewrite | year | convert_year",
        ),
        (
            "_id: int",
            "_id: long",
            "needs a rewrite | _id | convert_id",
        ),
        (
            "ref=\"publishers\"",
            "ref=\"houses\"",
            "needs a rewrite | publisher | convert_publisher",
        ),
        (" ref=\"publishers\"", "", "compatible | publisher | -"),
        // Variants.
        (
            "  field note",
            "  field cover<soft>: object tagging=\"internal kind\"\n  field cover<soft>.pages: int required\n  field note",
            "compatible | cover<soft> | -",
        ),
        (
            "  field cover<\"hard cover\">: object tagging=\"internal kind\"\n  field cover<\"hard cover\">.weight: double required minimum=0.5\n",
            "",
            "needs a rewrite | cover<\"hard cover\"> | convert_cover_hard_cover",
        ),
        (
            "internal kind",
            "internal type",
            "needs a rewrite | cover<\"hard cover\"> | convert_cover_hard_cover",
        ),
        (
            "enum=[\"lent\",\"sold\"]",
            "enum=[\"lent\",\"lost\",\"sold\"]",
            "compatible | status | -",
        ),
        (
            "enum=[\"lent\",\"sold\"]",
            "enum=[\"sold\"]",
            "needs a rewrite | status | convert_status",
        ),
        (" enum=[\"lent\",\"sold\"]", "", "compatible | status | -"),
        // Bounds.
        ("maximum=2100", "maximum=2200", "compatible | year | -"),
        (
            "maximum=2100",
            "maximum=2000",
            "needs a rewrite | year | fit_year",
        ),
        (" maximum=2100", "", "compatible | year | -"),
        ("minimum=1450", "minimum=1400", "compatible | year | -"),
        (
            "minimum=1450",
            "minimum=1500",
            "needs a rewrite | year | fit_year",
        ),
        (
            " maximum=2100",
            " exclusiveMaximum=true maximum=2100",
            "needs a rewrite | year | fit_year",
        ),
        ("maxItems=50", "maxItems=60", "compatible | authors | -"),
        (
            "maxItems=50",
            "maxItems=40",
            "loses data | authors | shorten_authors",
        ),
        (
            "maxItems=50",
            "maxItems=50 minItems=1",
            "needs a rewrite | authors | fit_authors",
        ),
        (
            "maxItems=50",
            "maxItems=50 uniqueItems=true",
            "needs a rewrite | authors | fit_authors",
        ),
        (
            "note: null|string optional",
            "note: null|string optional maxLength=9",
            "needs a rewrite | note | fit_note",
        ),
        (
            "note: null|string optional",
            "note: null|string optional pattern=\"^a\"",
            "needs a rewrite | note | fit_note",
        ),
        // The rest.
        (
            "{\"size\":4096,\"max\":100}",
            "{\"size\":4096,\"max\":99}",
            "loses data | option capped | change_capped",
        ),
        (
            "{\"size\":4096,\"max\":100}",
            "{\"size\":4096,\"max\":101}",
            "compatible | option capped | -",
        ),
        (
            "\"max\":100}",
            "\"max\":100}\n  option deny_undeclared: true",
            "needs a rewrite | option deny_undeclared | change_deny_undeclared",
        ),
        (
            "  index title_1: {\"key\":{\"title\":1}}\n",
            "",
            "compatible | index title_1 | -",
        ),
        (
            "  index title_1",
            "  index a_1: {\"key\":{\"a\":1}}\n  index title_1",
            "compatible | index a_1 | -",
        ),
        (
            "{\"key\":{\"title\":1}}",
            "{\"key\":{\"title\":1},\"unique\":true}",
            "needs a rewrite | index title_1 | prepare_title_1",
        ),
        (
            "{\"key\":{\"title\":1}}",
            "{\"key\":{\"title\":1},\"expireAfterSeconds\":9}",
            "loses data | index title_1 | prepare_title_1",
        ),
        (
            "\"expireAfterSeconds\":60",
            "\"expireAfterSeconds\":61",
            "compatible | index year_1 | -",
        ),
        (
            "\"expireAfterSeconds\":60",
            "\"expireAfterSeconds\":59",
            "loses data | index year_1 | prepare_year_1",
        ),
        (
            "{\"$gte\":0}",
            "{\"$gte\":1}",
            "needs a rewrite | rule in stock | fit_in_stock",
        ),
        (
            "  rule \"in stock\": {\"available\":{\"$gte\":0}}\n",
            "",
            "compatible | rule in stock | -",
        ),
        (
            "\"parent\":\"parent\"",
            "\"parent\":\"above\"",
            "needs a rewrite | tree tree | repair_tree",
        ),
        (
            "  rule",
            "  relation loans: {\"has_many\":\"loans\",\"by\":\"book\"}\n  rule",
            "compatible | relation loans | -",
        ),
        // Models.
        ("model Book", "model Volume", "compatible |  | -"),
        ("Book version 1", "Book version 2", "compatible |  | -"),
        (
            "\n\ncollection \"name of it\" model Other version 1",
            "",
            "loses data |  | drop_name_of_it",
        ),
        (
            "collection books",
            "collection volumes",
            "needs a rewrite |  | rename_books_to_volumes",
        ),
    ] {
        assert_eq!(said(from, to), [expected], "{from} -> {to}");
    }
}

#[test]
fn a_validator_that_refuses_nothing_lets_numbers_grow() {
    let old = parsed(&BOOKS.replace(
        "  index title",
        "  option validation: {\"level\":\"off\",\"action\":\"error\"}\n  index title",
    ));
    let new = parsed(&old.to_string().replace("year: int", "year: long"));
    let changes = Lock::compare(&old, &new);
    assert_eq!(changes.len(), 1);
    assert_eq!(
        changes.first().map(|change| change.impact),
        Some(Impact::Compatible)
    );
}

#[test]
fn a_higher_version_covers_a_rewrite() {
    let old = parsed(BOOKS);
    let text = BOOKS
        .replace("version 1", "version 2")
        .replace("year: int", "year: string");
    let changes = Lock::compare(&old, &parsed(&text));
    assert!(
        changes.iter().all(|change| change.is_versioned),
        "{changes:?}"
    );
    let back = Lock::compare(&parsed(&text), &old);
    assert!(back.iter().all(|change| !change.is_versioned), "{back:?}");
    assert!(
        back.iter()
            .any(|change| change.what.contains("went back from 2 to 1"))
    );
}

#[test]
fn two_candidates_are_no_rename() {
    let old = parsed("odm-lock 1\ncollection a model A version 1\n  field a: int required\n");
    let new = parsed(
        "odm-lock 1\ncollection a model A version 1\n  field b: int required\n  field c: int required\n",
    );
    let impacts: Vec<_> = Lock::compare(&old, &new)
        .iter()
        .map(|change| change.impact)
        .collect();
    assert_eq!(
        impacts,
        [Impact::LosesData, Impact::Rewrite, Impact::Rewrite]
    );
    // An alias decides, whatever the type.
    let new = parsed(
        "odm-lock 1\ncollection a model A version 1\n  field b: int required\n  field c: long required alias=[\"a\"]\n",
    );
    let changes = Lock::compare(&old, &new);
    let mut steps = changes.iter().filter_map(|change| change.step.as_deref());
    assert!(steps.any(|step| step == "rename_a_to_c"), "{changes:?}");
}

#[test]
fn a_file_is_compared_and_written() {
    let folder = std::env::temp_dir().join(format!("odm-lock-unit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("odm.lock");
    let old = parsed(BOOKS);
    let error = check(&path, &old, Mode::Compare).unwrap_err();
    assert!(
        error.is_file()
            && error
                .to_string()
                .contains("make it with `ODM_LOCK=write cargo test`"),
        "{error}"
    );
    check(&path, &old, Mode::Write).unwrap();
    check(&path, &old, Mode::Compare).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), BOOKS);

    let compatible = parsed(&BOOKS.replace("maximum=2100", "maximum=2200"));
    let error = check(&path, &compatible, Mode::Compare)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("compatible: Book.year") && error.contains("ODM_LOCK=write"),
        "{error}"
    );
    check(&path, &compatible, Mode::Write).unwrap();
    check(&path, &compatible, Mode::Compare).unwrap();

    let worse = parsed(&BOOKS.replace("year: int", "year: string"));
    for mode in [Mode::Compare, Mode::Write] {
        let error = check(&path, &worse, mode).unwrap_err().to_string();
        assert!(
            error.contains("in a step `convert_year`") && error.contains("ODM_LOCK=accept"),
            "{error}"
        );
    }
    check(&path, &compatible, Mode::Compare).unwrap();
    let versioned = parsed(
        &worse
            .to_string()
            .replace("Book version 1", "Book version 2"),
    );
    check(&path, &versioned, Mode::Write).unwrap();
    check(&path, &compatible, Mode::Accept).unwrap();

    // A file of Windows is not written anew for its line ends.
    let crlf = compatible.to_string().replace('\n', "\r\n");
    std::fs::write(&path, &crlf).unwrap();
    check(&path, &compatible, Mode::Write).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), crlf);

    std::fs::write(&path, "odm-lock 1\n<<<<<<< HEAD\n").unwrap();
    for mode in [Mode::Compare, Mode::Write] {
        let error = check(&path, &old, mode).unwrap_err().to_string();
        assert!(error.contains("odm.lock: line 2: a marker"), "{error}");
    }
    check(&path, &old, Mode::Accept).unwrap();
    check(&path, &old, Mode::Compare).unwrap();
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(check(&path, &old, Mode::Compare).unwrap_err().is_file());
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(files, 1);
    std::fs::remove_dir_all(&folder).unwrap();
    let error = check(&path, &old, Mode::Write).unwrap_err();
    assert!(
        error.is_file() && error.to_string().contains("can't be written"),
        "{error}"
    );
}

#[derive(serde::Serialize, serde::Deserialize, crate::Document)]
#[odm(
    collection = "people",
    schema(version = 2, steps(nothing), field = "v")
)]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
}

fn nothing(_: &mut bson::Document) {}

#[test]
fn the_version_is_the_declared_one() {
    let lock = lock(crate::models![Person]).unwrap();
    let text = lock.to_string();
    assert!(
        text.contains("collection people model Person version 2\n"),
        "{text}"
    );
    let renamed = parsed(&text.replace(r#"{"field":"v"}"#, r#"{"field":"w"}"#));
    let changes = Lock::compare(&lock, &renamed);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0].impact, Impact::Rewrite, "{changes:?}");
}
