//! Key patterns of special indexes: hashed, `$**`, text, geo. mongod's errors about them, and the stored form of their
//! options.

use bson::{Bson, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::value::collation::Collator;
use odm_language::value::key::check_parts;
use odm_language::value::text::Language;
use odm_language::value::{bson_type as types, print};

use crate::index::spec::projection;
use crate::index::spec::stored_options::{int, whole};
use crate::index::spec::value::{number, refused, show, wrong_type};

/// The plugin of a key pattern; `None` for a plain index.
pub(crate) fn kind(key: &Document) -> Option<&'static str> {
    if key.keys().any(|name| is_wildcard(name)) && !key.iter().any(|(_, value)| is(value, "text")) {
        return Some("wildcard");
    }
    ["text", "2dsphere", "2d", "hashed"]
        .into_iter()
        .find(|plugin| key.values().any(|value| is(value, plugin)))
}

fn is(value: &Bson, plugin: &str) -> bool {
    matches!(value, Bson::String(word) if word == plugin)
}

fn is_wildcard(name: &str) -> bool {
    name == "$**" || name.ends_with(".$**")
}

/// mongod's errors about the key pattern alone.
pub(crate) fn check_key(key: &Document) -> Result<(), ServerError> {
    if key.is_empty() {
        return Err(refused("Index keys cannot be empty."));
    }
    for (name, value) in key {
        check_value(value)?;
        if is(value, "text") && name == "$**" {
            continue;
        }
        if is_wildcard(name) {
            match number(value) {
                Some(direction) if direction < 0.0 => {
                    return Err(refused(
                        "A numeric value in a $** index key pattern must be positive.",
                    ));
                }
                Some(_) if key.len() > 1 => {
                    return Err(refused("wildcard indexes do not allow compounding"));
                }
                Some(_) => {
                    if let Some(below) = name.strip_suffix(".$**") {
                        check_path(below)?;
                    }
                    continue;
                }
                None => {}
            }
        }
        check_name(name)?;
    }
    let mut plugins = key.values().filter_map(Bson::as_str);
    let first = plugins.next();
    if plugins.any(|plugin| Some(plugin) != first) {
        return Err(refused(
            "Can't use more than one index plugin for a single index.",
        ));
    }
    Ok(())
}

fn check_value(value: &Bson) -> Result<(), ServerError> {
    if let Some(direction) = number(value) {
        return if direction.is_nan() {
            Err(refused("Values in the index key pattern cannot be NaN."))
        } else if direction.abs() > 0.0 {
            Ok(())
        } else {
            Err(refused("Values in the index key pattern cannot be 0."))
        };
    }
    match value {
        Bson::String(plugin) => match plugin.as_str() {
            "" => Err(refused(
                "Values in the index key pattern cannot be empty strings",
            )),
            "wildcard" => Err(refused(
                "The key pattern value for an 'wildcard' index must be a non-zero number, not a string.",
            )),
            "text" | "2dsphere" | "2d" | "hashed" => Ok(()),
            "geoHaystack" => Err(refused(
                "GeoHaystack indexes cannot be created in version 5.0 and above",
            )),
            _ => Err(refused(format!("Unknown index plugin '{plugin}'"))),
        },
        other => Err(refused(format!(
            "Values in v:2 index key pattern cannot be of type {}. Only numbers > 0, numbers < 0, and strings are \
             allowed.",
            types::alias(other.element_type())
        ))),
    }
}

fn check_name(name: &str) -> Result<(), ServerError> {
    if name.is_empty() {
        return Err(refused("Index keys cannot be an empty field."));
    }
    check_path(name)
}

fn check_path(path: &str) -> Result<(), ServerError> {
    let reference = |at: usize, part: &str| at > 0 && matches!(part, "$id" | "$ref" | "$db");
    for (at, part) in path.split('.').enumerate() {
        if part.is_empty() {
            return Err(refused("Index keys cannot contain an empty field."));
        }
        if part.starts_with('$') && !reference(at, part) {
            return Err(refused(
                "Index key contains an illegal field name: field name starts with '$'.",
            ));
        }
    }
    Ok(())
}

/// Checks a `wildcardProjection`.
pub(super) fn check_projection(given: &Document, value: &Bson) -> Result<(), ServerError> {
    let key = given.get_document("key").ok();
    if key.is_some_and(|key| kind(key) != Some("wildcard")) {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "The field 'wildcardProjection' is only allowed in an 'wildcard' index",
        ));
    }
    let Bson::Document(projection) = value else {
        return Err(wrong_type(
            "wildcardProjection",
            "a non-empty object",
            value,
        ));
    };
    if key.is_some_and(|key| !key.contains_key("$**")) {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "The field 'wildcardProjection' is only allowed when 'key' is {\"$**\": \u{b1}1}",
        ));
    }
    if projection.is_empty() {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "The 'wildcardProjection' field can't be an empty object",
        ));
    }
    projection::check(projection)
}

/// Rejects options that belong to another kind of index.
pub(crate) fn check_options(given: &Document) -> Result<(), ServerError> {
    let Ok(key) = given.get_document("key") else {
        return Ok(());
    };
    let kind = kind(key);
    if given.contains_key("weights") && kind != Some("text") {
        return Err(refused(format!(
            "Invalid index specification {}; the field 'weights' can only be specified with text indexes",
            show(given)
        )));
    }
    Ok(())
}

/// Checks the options of a 2d index.
fn check_plane(given: &Document, key: &Document) -> Result<(), ServerError> {
    let error = |code, message: String| Err(ServerError::new(code, message));
    let places = key.values().filter(|value| is(value, "2d")).count();
    if places > 1 {
        return error(Code::location(16800), "can't have 2 geo fields".to_owned());
    }
    if !key.values().next().is_some_and(|value| is(value, "2d")) {
        return error(
            Code::location(16801),
            "2d has to be first in index".to_owned(),
        );
    }
    let bits = given.get("bits").map_or(Some(26), int).unwrap_or(26);
    let bound = |name: &str, default: f64| given.get(name).and_then(number).unwrap_or(default);
    let (min, max) = (bound("min", -180.0), bound("max", 180.0));
    if !(1..=32).contains(&bits) {
        return error(
            Code::INVALID_OPTIONS,
            format!("bits for hash must be > 0 and <= 32, but {bits} bits were specified"),
        );
    }
    if !(min < max && (max - min).is_finite()) {
        return error(
            Code::INVALID_OPTIONS,
            format!(
                "region for hash must be valid and have positive area, but [{}, {}] was specified",
                bound_shown(min),
                bound_shown(max)
            ),
        );
    }
    Ok(())
}

fn bound_shown(bound: f64) -> String {
    if bound.is_nan() {
        return "nan".to_owned();
    }
    print::significant(bound, 6)
}

/// Rejects unknown versions of 2dsphere indexes.
fn check_sphere(given: Option<&Bson>) -> Result<(), ServerError> {
    let Some((value, version)) = given.and_then(|value| Some((value, number(value)?))) else {
        return Ok(());
    };
    let shown = show(&doc! { "2dsphereIndexVersion": value });
    let shown = shown.trim_start_matches("{ ").trim_end_matches(" }");
    let wrong = |word: &str| {
        Err(refused(format!(
            "{word} geo index version {{ 2dsphereIndexVersion : {shown} }}, only versions: [1,2,3] are supported"
        )))
    };
    if matches!(value, Bson::Double(version) if !version.is_normal()) {
        return wrong("Invalid value for");
    }
    if !(1.0..=3.0).contains(&version) {
        return wrong("unsupported");
    }
    Ok(())
}

/// Rejects fractional versions of 2dsphere indexes.
fn check_sphere_version(given: &Document) -> Result<(), ServerError> {
    match given.get("2dsphereIndexVersion") {
        Some(value) if whole(value).is_none() => Err(not_whole("2dsphereIndexVersion", value)),
        _ => Ok(()),
    }
}

fn not_whole(option: &str, value: &Bson) -> ServerError {
    let shown = show(&doc! { option: value });
    ServerError::new(
        Code::BAD_VALUE,
        format!(
            "Expected field \"{option}\" to have a value exactly representable as a 64-bit integer, but found {}",
            shown.trim_start_matches("{ ").trim_end_matches(" }")
        ),
    )
}

/// Rejects options that this kind of index does not support.
pub(crate) fn check(
    key: &Document,
    options: &Document,
    collation: Option<&Collator>,
) -> Result<(), ServerError> {
    let kind = kind(key);
    if kind == Some("wildcard") {
        for option in ["sparse", "unique"] {
            if options.get_bool(option).unwrap_or(false) {
                return Err(refused(format!(
                    "Index type 'wildcard' does not support the {option} option"
                )));
            }
        }
        if options.contains_key("expireAfterSeconds") {
            return Err(refused("Index type 'wildcard' cannot be a TTL index"));
        }
    }
    if let (Some(collation), Some(kind @ ("text" | "2d"))) = (collation, kind) {
        return Err(refused(format!(
            "Index type '{kind}' does not support collation: {}",
            show(&collation.document())
        )));
    }
    Ok(())
}

/// Adds the default options of a kind of index, and checks the given ones.
pub(crate) fn complete(
    given: &Document,
    key: &Document,
    options: &mut Document,
) -> Result<(), ServerError> {
    match kind(key) {
        Some("text") => text(key, options),
        Some("2dsphere") => {
            check_sphere(given.get("2dsphereIndexVersion"))?;
            options
                .entry("2dsphereIndexVersion".to_owned())
                .or_insert(Bson::Int32(3));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The options for mongod's coarsest and finest cells. The engine chooses its own cell sizes and finds the same
/// documents.
pub(crate) const LEVELS: [&str; 2] = ["coarsestIndexedLevel", "finestIndexedLevel"];

/// The finest level of cells.
const FINEST: i32 = 30;

/// Rejects invalid levels of cells.
#[expect(clippy::cast_possible_truncation, reason = "as a server does it")]
fn check_levels(options: &Document) -> Result<(), ServerError> {
    let refuse = |code, message: &str| Err(ServerError::new(Code::location(code), message));
    let is_new = options.get("2dsphereIndexVersion").and_then(int) == Some(3);
    let defaults = if is_new { [2, 16] } else { [7, 14] };
    let [mut coarsest, mut finest] = defaults;
    for (name, to) in LEVELS.into_iter().zip([&mut coarsest, &mut finest]) {
        let Some(value) = options.get(name) else {
            continue;
        };
        if number(value).is_none() {
            return Err(ServerError::new(
                Code::TYPE_MISMATCH,
                format!(
                    "Expected field \"{name}\" to have numeric type, but found {}",
                    types::alias(value.element_type())
                ),
            ));
        }
        let level = whole(value).ok_or_else(|| not_whole(name, value))?;
        // As on mongod, a large number loses its upper 32 bits.
        *to = level as i32;
    }
    if coarsest < 0 {
        return refuse(16747, "coarsestIndexedLevel must be >= 0");
    }
    if finest > FINEST {
        return refuse(16748, "finestIndexedLevel must be <= 30");
    }
    if finest < coarsest {
        return refuse(16749, "finestIndexedLevel must be >= coarsestIndexedLevel");
    }
    Ok(())
}

/// mongod's checks at the start of an index build, on the options as they were given.
pub(crate) fn check_build(key: &Document, options: &Document) -> Result<(), ServerError> {
    check_parts(key.len())?;
    match kind(key) {
        Some("2dsphere") => {
            check_sphere_version(options)?;
            check_levels(options)
        }
        Some("2d") => check_plane(options, key),
        Some("hashed") => check_hashed(key, options),
        _ => Ok(()),
    }
}

fn check_hashed(key: &Document, options: &Document) -> Result<(), ServerError> {
    if options.get_bool("unique").unwrap_or(false) {
        return Err(ServerError::new(
            Code::location(16764),
            "Currently hashed indexes cannot guarantee uniqueness. Use a regular index.",
        ));
    }
    let hashed = key.values().filter(|value| is(value, "hashed")).count();
    if hashed > 1 {
        return Err(ServerError::new(
            Code::location(31303),
            format!(
                "A maximum of one index field is allowed to be hashed but found {hashed} for 'key' {}",
                show(key)
            ),
        ));
    }
    Ok(())
}

fn text(key: &Document, options: &mut Document) -> Result<(), ServerError> {
    let mut runs = 0;
    let mut before = false;
    for value in key.values() {
        let here = is(value, "text");
        runs += usize::from(here && !before);
        before = here;
    }
    if runs > 1 {
        return Err(refused("'text' fields in index must all be adjacent"));
    }
    let is_stored = is_stored_text(key)?;
    let mut weights = weights(options.get("weights"))?;
    if is_stored && weights.is_empty() {
        return Err(refused(
            "text index option 'weights' must specify fields or the wildcard",
        ));
    }
    for (field, value) in key {
        if !is_stored && is(value, "text") && !weights.iter().any(|(known, _)| known == field) {
            weights.push((field.clone(), Bson::Int32(1)));
        }
    }
    weights.sort_by(|(one, _), (other, _)| one.cmp(other));
    options.insert("weights", weights.into_iter().collect::<Document>());
    match options.get("default_language") {
        None => {
            options.insert("default_language", "english");
        }
        Some(Bson::String(language)) if Language::parse(language).is_some() => {}
        Some(_) => return Err(refused("default_language is not valid")),
    }
    check_override(options)?;
    match options.get("textIndexVersion").and_then(int) {
        None => {
            options.insert("textIndexVersion", 3);
            Ok(())
        }
        Some(3) => Ok(()),
        Some(version @ 1..3) => Err(ServerError::new(
            Code::COMMAND_NOT_SUPPORTED,
            format!("the in-memory engine has no text indexes of version {version}"),
        )),
        Some(version) => Err(refused(format!("bad textIndexVersion: {version}"))),
    }
}

/// The given weights, converted to the integers that are stored.
fn weights(given: Option<&Bson>) -> Result<Vec<(String, Bson)>, ServerError> {
    let given = match given {
        None => return Ok(Vec::new()),
        Some(Bson::Document(weights)) => weights.clone(),
        // Short for all fields.
        Some(Bson::String(all)) if all == "$**" => doc! { "$**": 1 },
        Some(_) => return Err(refused("text index option 'weights' must be an object")),
    };
    given
        .into_iter()
        .map(|(field, weight)| {
            let Some(weight) = int(&weight) else {
                return Err(refused("weight for text index needs numeric type"));
            };
            if !(1..100_000).contains(&weight) {
                return Err(refused(format!(
                    "text index weight must be in the exclusive interval (0,100000) but found: {weight}"
                )));
            }
            check_weighed(&field)?;
            Ok((field, Bson::Int32(weight)))
        })
        .collect()
}

fn check_weighed(field: &str) -> Result<(), ServerError> {
    if field == "$**" {
        return Ok(());
    }
    if field.is_empty() {
        return Err(refused("weight cannot be on an empty field"));
    }
    for part in field.split('.') {
        if part.is_empty() {
            return Err(refused("weight cannot have empty path component"));
        }
        if part.starts_with('$') {
            return Err(refused("weight cannot have path component with $ prefix"));
        }
    }
    Ok(())
}

/// Checks `language_override`, which must name a top-level field.
fn check_override(options: &mut Document) -> Result<(), ServerError> {
    match options.get("language_override") {
        None => {
            options.insert("language_override", "language");
            Ok(())
        }
        Some(Bson::String(field))
            if !field.is_empty() && !field.starts_with('$') && !field.contains('.') =>
        {
            Ok(())
        }
        Some(_) => Err(refused("language_override is not valid")),
    }
}

/// Whether the text fields are given in their stored form, in which the weights name the fields.
fn is_stored_text(key: &Document) -> Result<bool, ServerError> {
    let reserved = |name: &str| matches!(name, "_fts" | "_ftsx");
    let mut fields = key
        .iter()
        .skip_while(|(name, value)| !is(value, "text") && !reserved(name));
    if fields.next().is_some_and(|(name, _)| name == "_fts") {
        return match fields.next() {
            Some((name, value)) if name == "_ftsx" => match number(value) {
                Some(1.0) => Ok(true),
                _ => Err(refused("expecting _ftsx:1")),
            },
            _ => Err(refused("expected _ftsx after _fts")),
        };
    }
    if key.keys().any(|name| reserved(name)) {
        return Err(refused(
            "text index with reserved fields _fts/_ftsx not allowed",
        ));
    }
    Ok(false)
}

/// The key pattern as mongod stores it: the fields of a text index become `_fts` and `_ftsx`.
pub(crate) fn normalize(kind: Option<&str>, key: &Document) -> Document {
    if kind != Some("text") {
        return key.clone();
    }
    let mut stored = Document::new();
    for (name, value) in key {
        if !is(value, "text") {
            stored.insert(name, value);
        } else if !stored.contains_key("_fts") {
            stored.insert("_fts", "text");
            stored.insert("_ftsx", 1);
        }
    }
    stored
}
