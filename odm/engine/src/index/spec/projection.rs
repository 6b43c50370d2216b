//! mongod's checks of a `wildcardProjection`, which either includes or excludes paths.

use bson::{Bson, Document};
use odm_language::error::{Code, ServerError};

use crate::index::spec::value::number;

/// Returns an error if the document is not a projection or has computed fields.
pub(in crate::index) fn check(projection: &Document) -> Result<(), ServerError> {
    let mut check = Check::default();
    check
        .fields(projection, "")
        .map_err(|(code, message)| refusal(code, &message))
}

type Fault = (i32, String);

fn refusal(code: i32, message: &str) -> ServerError {
    ServerError::new(
        Code::location(code),
        format!("Failed to parse: wildcardProjection :: caused by :: {message}"),
    )
}

#[derive(Default)]
struct Check {
    /// The paths so far.
    paths: Vec<String>,
    /// Whether the first path other than `_id` is included; all others must agree.
    inclusion: Option<bool>,
}

impl Check {
    fn fields(&mut self, fields: &Document, place: &str) -> Result<(), Fault> {
        for (name, value) in fields {
            let path = if place.is_empty() {
                name.clone()
            } else {
                format!("{place}.{name}")
            };
            self.field(name, path, value)?;
        }
        Ok(())
    }

    fn field(&mut self, name: &str, path: String, value: &Bson) -> Result<(), Fault> {
        check_path(&path)?;
        let keeps = match value {
            Bson::Document(inner) => return self.inner(&path, inner),
            Bson::Boolean(keeps) => *keeps,
            value => number(value).ok_or_else(computed)? != 0.0,
        };
        self.collide(&path)?;
        if path != "_id" {
            match self.inclusion {
                Some(inclusion) if inclusion != keeps => {
                    let (code, word, kind) = if inclusion {
                        (31254, "exclusion", "inclusion")
                    } else {
                        (31253, "inclusion", "exclusion")
                    };
                    return Err((
                        code,
                        format!("Cannot do {word} on field {name} in {kind} projection"),
                    ));
                }
                _ => self.inclusion = Some(keeps),
            }
        }
        self.paths.push(path);
        Ok(())
    }

    fn inner(&mut self, path: &str, inner: &Document) -> Result<(), Fault> {
        match inner.keys().next().map(String::as_str) {
            None => Err((
                51270,
                "An empty sub-projection is not a valid value. Found empty object at path".into(),
            )),
            Some("$elemMatch") => Err((168, "Cannot use $elemMatch in this context".into())),
            Some(name) if name.starts_with('$') => Err(computed()),
            Some(_) => self.fields(inner, path),
        }
    }

    fn collide(&self, path: &str) -> Result<(), Fault> {
        for other in &self.paths {
            if below(other, path).is_some() || other == path {
                return Err((31250, format!("Path collision at {path}")));
            }
            if let Some(rest) = below(path, other) {
                return Err((
                    31249,
                    format!("Path collision at {path} remaining portion {rest}"),
                ));
            }
        }
        Ok(())
    }
}

/// The rest of a path below another one.
fn below<'p>(path: &'p str, other: &str) -> Option<&'p str> {
    path.strip_prefix(other)?.strip_prefix('.')
}

fn computed() -> Fault {
    (
        51271,
        "Bad projection specification, cannot use computed fields when parsing a spec in \
         kBanComputedFields mode"
            .into(),
    )
}

fn check_path(path: &str) -> Result<(), Fault> {
    let fault = |code, message: &str| Err((code, message.to_owned()));
    if path.is_empty() {
        return fault(40352, "FieldPath cannot be constructed with empty string");
    }
    if path == "$" || path.ends_with(".$") {
        return fault(
            31324,
            "Cannot use positional projection in aggregation projection",
        );
    }
    if path.ends_with('.') {
        return fault(40353, "FieldPath must not end with a '.'.");
    }
    for part in path.split('.') {
        if part.is_empty() {
            return fault(15998, "FieldPath field names may not be empty strings.");
        }
        if part.starts_with('$') {
            return fault(
                16410,
                "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
            );
        }
    }
    Ok(())
}
