//! The text of a lock file: one line for each fact, sorted.

use std::collections::btree_map::Entry;
use std::fmt;

use serde::de::{DeserializeOwned, IgnoredAny};

use super::{Fact, Lock, LockedField, LockedModel, Presence};

/// The version of the format, in the first line.
const FORMAT: u32 = 1;

/// The word that the first line begins with.
const TITLE: &str = "odm-lock";

/// The names of stored types in a line.
const TYPES: [&str; 19] = [
    "any",
    "array",
    "binData",
    "bool",
    "date",
    "decimal",
    "double",
    "int",
    "javascript",
    "javascriptWithScope",
    "long",
    "maxKey",
    "minKey",
    "null",
    "object",
    "objectId",
    "regex",
    "string",
    "timestamp",
];

/// A name as it is, or as a JSON string if it has other characters than identifiers and those of `also`.
pub(super) fn name(text: &str, also: &str) -> String {
    let is_plain = |one: char| one.is_alphanumeric() || "_-$".contains(one) || also.contains(one);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        json(text)
    }
}

/// A JSON string.
pub(super) fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The path of a field of the object at `at`.
pub(super) fn child(at: &str, field: &str) -> String {
    let field = name(field, "");
    if at.is_empty() {
        field
    } else {
        format!("{at}.{field}")
    }
}

/// Where the last segment of a path starts: at its separator, or at 0.
fn last_segment(path: &str) -> usize {
    let mut start = 0;
    let mut quotes = Quotes::default();
    for (position, one) in path.char_indices() {
        if !quotes.passes(one) && ['.', '[', '{', '<'].contains(&one) {
            start = position;
        }
    }
    start
}

/// The path of what contains the value at `path`, and the last segment without its dot.
pub(super) fn split(path: &str) -> (&str, &str) {
    let (parent, segment) = path.split_at(last_segment(path));
    (parent, segment.strip_prefix('.').unwrap_or(segment))
}

/// The paths of all that contains the value at `path`, innermost first, without the document itself.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let parents = std::iter::successors(Some(path), |path| Some(split(path).0));
    parents.skip(1).take_while(|path| !path.is_empty())
}

/// Whether a character is within a JSON string.
#[derive(Default)]
struct Quotes {
    inside: bool,
    escaped: bool,
}

impl Quotes {
    /// Takes the next character; returns whether it belongs to a string.
    fn passes(&mut self, one: char) -> bool {
        if !self.inside {
            self.inside = one == '"';
            return self.inside;
        }
        if self.escaped {
            self.escaped = false;
        } else if one == '\\' {
            self.escaped = true;
        } else {
            self.inside = one != '"';
        }
        true
    }
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{TITLE} {FORMAT}")?;
        for (collection, model) in &self.models {
            let (collection, rust) = (name(collection, "."), name(&model.name, ""));
            writeln!(
                f,
                "\ncollection {collection} model {rust} version {}",
                model.version
            )?;
            for (path, field) in &model.fields {
                writeln!(f, "  field {path}: {field}")?;
            }
            for ((fact, title), value) in &model.facts {
                writeln!(f, "  {} {}: {value}", fact.word(), name(title, "."))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for LockedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<_> = self.types.iter().map(String::as_str).collect();
        f.write_str(&types.join("|"))?;
        if let Some(presence) = self.presence {
            write!(f, " {}", presence.word())?;
        }
        for (keyword, value) in &self.facts {
            write!(f, " {keyword}={value}")?;
        }
        Ok(())
    }
}

impl Presence {
    const ALL: [Self; 3] = [Self::Required, Self::Default, Self::Optional];

    const fn word(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Default => "default",
            Self::Optional => "optional",
        }
    }
}

impl Fact {
    const ALL: [Self; 6] = [
        Self::Option,
        Self::Index,
        Self::Keywords,
        Self::Relation,
        Self::Rule,
        Self::Tree,
    ];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Option => "option",
            Self::Index => "index",
            Self::Keywords => "keywords",
            Self::Relation => "relation",
            Self::Rule => "rule",
            Self::Tree => "tree",
        }
    }
}

/// Reads the text of a lock file; the error begins with the number of the line.
pub(super) fn parse(text: &str) -> Result<Lock, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate();
    let first = lines.next().map_or("", |(_, line)| line.trim_end());
    check_format(first).map_err(|message| format!("line 1: {message}"))?;
    let mut lock = Lock::default();
    let mut open = None;
    for (number, line) in lines {
        // A checkout on Windows may end lines with CRLF.
        let line = line.trim_end();
        if !line.is_empty() {
            self::line(line, &mut lock, &mut open)
                .map_err(|message| format!("line {}: {message}", number + 1))?;
        }
    }
    Ok(lock)
}

fn check_format(line: &str) -> Result<(), String> {
    refuse_conflict(line)?;
    let unknown = || {
        format!("a lock file begins with `{TITLE} {FORMAT}`, and this begins with {line:?}: {MEND}")
    };
    let format = line
        .strip_prefix(TITLE)
        .and_then(|rest| rest.strip_prefix(' '));
    let format: u32 = format.ok_or_else(unknown)?.parse().map_err(|_| unknown())?;
    match format {
        FORMAT => Ok(()),
        0 => Err(unknown()),
        _ => Err(format!(
            "the file has format {format}, and this version of odm reads format {FORMAT}: update odm"
        )),
    }
}

/// What to do about a file that can't be read.
const MEND: &str = "restore the file, or make it anew with `ODM_LOCK=accept cargo test`";

fn refuse_conflict(line: &str) -> Result<(), String> {
    let mut markers = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].into_iter();
    if markers.any(|marker| line.starts_with(marker)) {
        return Err(
            "a marker of a merge conflict: take the file of one side, then run `ODM_LOCK=write cargo test` with the merged models"
                .to_owned(),
        );
    }
    Ok(())
}

/// Reads a line into the model that the last `collection` line has opened.
fn line(line: &str, lock: &mut Lock, open: &mut Option<String>) -> Result<(), String> {
    refuse_conflict(line)?;
    if let Some(rest) = line.strip_prefix("collection ") {
        let (collection, model) = header(rest)?;
        *open = Some(collection.clone());
        return match lock.models.entry(collection) {
            Entry::Vacant(free) => {
                free.insert(model);
                Ok(())
            }
            Entry::Occupied(taken) => Err(format!(
                "the collection `{}` is listed before: remove one of the two",
                taken.key()
            )),
        };
    }
    let known = line
        .strip_prefix("  ")
        .and_then(|line| line.split_once(' '));
    let (word, rest) = known.ok_or_else(|| unknown(line))?;
    let Some(model) = open.as_ref().and_then(|open| lock.models.get_mut(open)) else {
        return Err("a line of a model stands before the first `collection` line".to_owned());
    };
    if word == "field" {
        let (path, rest) = path(rest)?;
        let field = field(rest)?;
        return insert(model.fields.entry(path.to_owned()), field);
    }
    let mut facts = Fact::ALL.into_iter();
    let fact = facts
        .find(|fact| fact.word() == word)
        .ok_or_else(|| unknown(line))?;
    let (title, rest) = named(rest)?;
    let value = rest
        .strip_prefix(": ")
        .ok_or("expected `: ` after the name")?;
    let (value, rest) = json_value(value)?;
    if !rest.is_empty() {
        return Err(format!("unexpected {rest:?} after the value"));
    }
    insert(model.facts.entry((fact, title)), value)
}

fn unknown(line: &str) -> String {
    format!("no line of a lock file: {line:?}: {MEND}")
}

fn insert<K: Ord, V>(entry: Entry<'_, K, V>, value: V) -> Result<(), String> {
    match entry {
        Entry::Vacant(free) => {
            free.insert(value);
            Ok(())
        }
        Entry::Occupied(_) => {
            Err("this is listed before, perhaps by a merge: remove one of the two lines".to_owned())
        }
    }
}

/// `books model Book version 1`
fn header(rest: &str) -> Result<(String, LockedModel), String> {
    let expected = "expected `collection NAME model NAME version NUMBER`";
    let (collection, rest) = named(rest)?;
    let (name, rest) = named(rest.strip_prefix(" model ").ok_or(expected)?)?;
    let version = rest.strip_prefix(" version ").ok_or(expected)?;
    let version = version.parse().ok().filter(|version| *version > 0);
    let model = LockedModel {
        name,
        version: version.ok_or("the version is a number from 1 on")?,
        ..LockedModel::default()
    };
    Ok((collection, model))
}

/// A name, quoted or not, and what follows it.
fn named(text: &str) -> Result<(String, &str), String> {
    if text.starts_with('"') {
        return value(text);
    }
    let end = text.find([' ', ':']).unwrap_or(text.len());
    match text.split_at(end) {
        ("", _) => Err("a name is missing".to_owned()),
        (name, rest) => Ok((name.to_owned(), rest)),
    }
}

/// A path, and what follows its colon.
fn path(text: &str) -> Result<(&str, &str), String> {
    let mut quotes = Quotes::default();
    let mut chars = text.char_indices();
    let end = chars.find(|(_, one)| !quotes.passes(*one) && *one == ':');
    let (path, rest) = text.split_at(end.map_or(0, |(position, _)| position));
    match (path, rest.strip_prefix(": ")) {
        ("", _) | (_, None) => Err("expected `field PATH: TYPE …`".to_owned()),
        (path, Some(rest)) => Ok((path, rest)),
    }
}

/// `int|null required minimum=0`
fn field(text: &str) -> Result<LockedField, String> {
    let (types, mut rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut field = LockedField::default();
    for ty in types.split('|') {
        if !TYPES.contains(&ty) {
            return Err(format!(
                "{ty:?} is no type: the types are {}",
                TYPES.join(", ")
            ));
        }
        field.types.insert(ty.to_owned());
    }
    while !rest.is_empty() {
        let end = rest.find([' ', '=']).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let Some(behind) = behind.strip_prefix('=') else {
            let mut all = Presence::ALL.into_iter();
            let presence = all.find(|presence| presence.word() == word);
            let is_second = field.presence.is_some();
            field.presence = presence.filter(|_| !is_second);
            if field.presence.is_none() {
                return Err(format!(
                    "{word:?} is neither `required`, `default` nor `optional`, once, nor `KEYWORD=VALUE`"
                ));
            }
            rest = behind.strip_prefix(' ').unwrap_or(behind);
            continue;
        };
        let (value, behind) = json_value(behind)?;
        if word.is_empty() || field.facts.insert(word.to_owned(), value).is_some() {
            return Err(format!("the keyword {word:?} is empty, or stands twice"));
        }
        rest = behind;
        if !rest.is_empty() {
            rest = rest
                .strip_prefix(' ')
                .ok_or("expected a space after the value")?;
        }
    }
    Ok(field)
}

/// A value of JSON as it is written, and what follows it.
fn json_value(text: &str) -> Result<(String, &str), String> {
    let (IgnoredAny, rest) = value(text)?;
    let end = text.len() - rest.len();
    Ok((text.split_at(end).0.to_owned(), rest))
}

/// A value of JSON, and what follows it.
fn value<T: DeserializeOwned>(text: &str) -> Result<(T, &str), String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<T>();
    match values.next() {
        Some(Ok(value)) => Ok((value, text.split_at(values.byte_offset()).1)),
        Some(Err(error)) => Err(format!("no JSON: {error}")),
        None => Err("a value is missing".to_owned()),
    }
}
