//! Parses a specification into the tree of a shape.

use std::sync::Arc;

use bson::raw::{RawBsonRef, RawDocument};

use crate::error::{Code, ServerError, refuse};
use crate::expression::compat::messages;
use crate::expression::parse::is_of_reference;
use crate::expression::projection::{Entry, Kind, Shape, Transform, Tree};
use crate::expression::{Expression, Scope, Value, field_path};
use crate::value::number::Number;
use crate::value::path::Segment;
use crate::value::raw::elements;

/// How a projection operator of `find` affects the kind of the projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectionEffect {
    /// It makes the projection an inclusion.
    Includes,
    /// It goes with either kind; on its own, it makes the projection this one.
    Otherwise(Kind),
}

/// Which of two mutually exclusive operators the parser has met.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExclusiveOperators {
    /// The positional operator.
    pub positional: bool,
    /// `$elemMatch`.
    pub matches_elements: bool,
}

/// Parses a projection operator of `find` at a path: returns its bearing on the projection, its path and the operator.
pub(super) type Special<'h> = dyn Fn(
        &str,
        RawBsonRef<'_>,
        ExclusiveOperators,
    ) -> Option<Result<(ProjectionEffect, String, Arc<dyn Transform>), ServerError>>
    + 'h;

impl Shape {
    /// `$set`, `$addFields`.
    pub fn set(spec: &RawDocument, scope: &Scope) -> Result<Self, ServerError> {
        // mongod checks all paths before it parses any expression.
        let mut paths = Fields {
            whole: spec,
            scope: None,
            tree: Tree::default(),
        };
        paths
            .add(spec, "")
            .map_err(|error| collision(error, spec))?;
        let mut fields = Fields {
            whole: spec,
            scope: Some(scope),
            tree: Tree::default(),
        };
        fields.add(spec, "")?;
        Ok(Self {
            kind: Kind::Set,
            tree: fields.tree,
        })
    }

    /// `$unset`.
    pub fn unset<'p>(paths: impl Iterator<Item = &'p str>) -> Result<Self, ServerError> {
        let mut tree = Tree::default();
        for path in paths {
            tree.insert(path, Entry::Drop)?;
        }
        Ok(Self {
            kind: Kind::Exclude,
            tree,
        })
    }

    /// `$project`, and the projection of `find` with its `special` operators. An empty projection keeps everything; a
    /// projection of `$meta` only is of the kind `only_meta`.
    pub fn project(
        spec: &RawDocument,
        scope: &Scope,
        special: &Special<'_>,
        only_meta: Kind,
    ) -> Result<Self, ServerError> {
        let mut parser = Parser {
            scope,
            special,
            kind: None,
            otherwise: None,
            only_meta,
            met: ExclusiveOperators::default(),
            tree: Tree::default(),
            id: None,
        };
        parser.fields(spec, "")?;
        let by_id = (parser.id == Some(true)).then_some(Kind::Include);
        let kind = parser
            .kind
            .or(by_id)
            .or(parser.otherwise)
            .unwrap_or(Kind::Exclude);
        match (kind, parser.id) {
            (Kind::Include, None) if !parser.tree.has("_id") => {
                parser.tree.insert("_id", Entry::Keep)?;
            }
            (Kind::Include, Some(true)) => parser.tree.insert("_id", Entry::Keep)?,
            (Kind::Exclude, Some(false)) => parser.tree.insert("_id", Entry::Drop)?,
            _ => {}
        }
        Ok(Self {
            kind,
            tree: parser.tree,
        })
    }
}

/// Refuses the positional `$` except at the end of a path.
pub fn check_position(path: &str) -> Result<(), ServerError> {
    if path.contains(".$.") {
        return refuse(
            31394,
            "As of 4.4, it's illegal to specify positional operator in the middle of a path.Positional projection may only be used at the end, for example: a.b.$. If the query previously used a form like a.b.$.d, remove the parts following the '$' and the results will be equivalent.",
        );
    }
    Ok(())
}

fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}.{name}")
    }
}

/// Parses the fields of `$set`; without a scope, it reads their paths only.
struct Fields<'p> {
    whole: &'p RawDocument,
    scope: Option<&'p Scope>,
    tree: Tree,
}

impl Fields<'_> {
    fn add(&mut self, spec: &RawDocument, prefix: &str) -> Result<(), ServerError> {
        for (name, value) in elements(spec) {
            if !prefix.is_empty() && name.contains('.') {
                return refuse(
                    40183,
                    format!(
                        "cannot use dotted field name '{name}' in a sub object: {}",
                        messages::stored_document(self.whole)
                    ),
                );
            }
            let path = joined(prefix, name);
            match value {
                RawBsonRef::Document(below) if !is_operator(below) => {
                    if below.is_empty() {
                        return refuse(
                            40180,
                            format!(
                                "an empty object is not a valid value. Found empty object at path {path}"
                            ),
                        );
                    }
                    self.check_operators(below)?;
                    field_path(&path)?;
                    self.add(below, &path)?;
                }
                value => {
                    if let RawBsonRef::Document(operator) = value {
                        self.check_operators(operator)?;
                    }
                    field_path(&path)?;
                    let entry = match self.scope {
                        Some(scope) => Entry::Compute(Expression::parse(value, scope)?),
                        None => Entry::Keep,
                    };
                    self.tree.insert(&path, entry)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses other fields beside an operator.
    fn check_operators(&self, object: &RawDocument) -> Result<(), ServerError> {
        let count = elements(object).count();
        if count == 1 || !elements(object).any(|(name, _)| name.starts_with('$')) {
            return Ok(());
        }
        refuse(
            40181,
            format!(
                "an expression specification must contain exactly one field, the name of the expression. Found {count} fields in {}, while parsing object {}",
                messages::stored_document(object),
                messages::stored_document(self.whole)
            ),
        )
    }
}

/// Checks a field name and its whole path.
#[inline(never)]
fn check_paths(name: &str, path: &str) -> Result<(), ServerError> {
    field_path(name)?;
    field_path(path).map(drop)
}

fn is_operator(document: &RawDocument) -> bool {
    elements(document)
        .next()
        .is_some_and(|(name, _)| name.starts_with('$'))
}

/// Whether an object in a projection is an expression: it has one field, an operator's name that is not a field of a
/// `DBRef`.
fn is_expression(document: &RawDocument) -> bool {
    let mut names = elements(document).map(|(name, _)| name);
    let first = names.next().unwrap_or("");
    first.starts_with('$') && !is_of_reference(first) && names.next().is_none()
}

impl Tree {
    fn insert(&mut self, path: &str, entry: Entry) -> Result<(), ServerError> {
        self.insert_below("", path, entry)
    }

    /// Inserts an entry at a path below `prefix`, which messages leave out.
    fn insert_below(&mut self, prefix: &str, path: &str, entry: Entry) -> Result<(), ServerError> {
        let mut parts = if prefix.is_empty() {
            Vec::new()
        } else {
            plain_parts(prefix)
        };
        parts.extend(field_path(path)?);
        self.place(&parts, path, entry)
    }

    /// Creates the tree for the fields of an object at a path below `prefix`.
    fn enter(&mut self, prefix: &str, path: &str) -> Result<(), ServerError> {
        let parts = plain_parts(&joined(prefix, path));
        let last = parts.len().saturating_sub(1);
        let mut tree = self;
        for (depth, part) in parts.into_iter().enumerate() {
            let known = tree
                .fields
                .iter()
                .position(|(known, _)| known.name() == part);
            if known.is_none() {
                tree.fields
                    .push((Segment::new(&part), Entry::Below(Self::default())));
            }
            let at = known.unwrap_or(tree.fields.len() - 1);
            match tree.fields.get_mut(at) {
                Some((_, Entry::Below(below))) => tree = below,
                _ if depth == last => return refuse(31250, format!("Path collision at {path}")),
                _ => return Err(collides_above(path)),
            }
        }
        Ok(())
    }

    /// Adds an entry at a path. It follows the path in a loop, because a path can have 200 parts.
    fn place(&mut self, parts: &[String], path: &str, entry: Entry) -> Result<(), ServerError> {
        let Some((last, above)) = parts.split_last() else {
            return Ok(());
        };
        let mut tree = self;
        for part in above {
            let at = tree.position(part).unwrap_or_else(|| {
                let below = Entry::Below(Self::default());
                tree.fields.push((Segment::new(part), below));
                tree.fields.len() - 1
            });
            tree = match tree.fields.get_mut(at) {
                Some((_, Entry::Below(below))) => below,
                _ => return Err(collides_above(path)),
            };
        }
        if tree.position(last).is_some() {
            return refuse(31250, format!("Path collision at {path}"));
        }
        tree.fields.push((Segment::new(last), entry));
        Ok(())
    }

    fn position(&self, name: &str) -> Option<usize> {
        let names = &mut self.fields.iter();
        names.position(|(known, _)| known.name() == name)
    }
}

fn plain_parts(path: &str) -> Vec<String> {
    path.split('.').map(str::to_owned).collect()
}

/// The error for a path below another path of the specification.
fn collides_above(path: &str) -> ServerError {
    let rest = path.split_once('.').map_or(path, |(_, rest)| rest);
    ServerError::new(
        Code::location(31249),
        format!("Path collision at {path} remaining portion {rest}"),
    )
}

struct Parser<'p> {
    scope: &'p Scope,
    special: &'p Special<'p>,
    kind: Option<Kind>,
    /// The kind if no field decides it.
    otherwise: Option<Kind>,
    /// The kind of a projection of `$meta` only.
    only_meta: Kind,
    tree: Tree,
    met: ExclusiveOperators,
    /// Whether the specification includes `_id`, which it may do with either kind.
    id: Option<bool>,
}

impl Parser<'_> {
    fn fields(&mut self, spec: &RawDocument, prefix: &str) -> Result<(), ServerError> {
        elements(spec).try_for_each(|(name, value)| {
            let path = joined(prefix, name);
            let is_empty = matches!(value, RawBsonRef::Document(below) if below.is_empty());
            if !prefix.is_empty() && name.starts_with('$') && !is_empty {
                field_path(name)?;
            }
            if is_meta(value) && !path.ends_with(".$") {
                // `$meta` goes with either kind.
                self.check_id(&path)?;
                field_path(&path)?;
                let expression = self.expression(&path, value)?;
                self.tree.insert(&path, Entry::Compute(expression))?;
                self.otherwise.get_or_insert(self.only_meta);
                return Ok(());
            }
            match (self.special)(&path, value, self.met) {
                None => {
                    self.check_id(&path)?;
                    self.plain(prefix, name, value)
                }
                Some(special) => {
                    let done = special.and_then(|special| self.transform(&path, special));
                    done.or_else(|fault| self.or_expression(fault, prefix, name, value))
                }
            }
        })
    }

    /// Refuses paths that collide with an earlier inclusion or exclusion of `_id`.
    fn check_id(&self, path: &str) -> Result<(), ServerError> {
        let target = path.strip_suffix(".$").unwrap_or(path);
        if self.id.is_some() && target.starts_with("_id.") {
            return Err(collides_above(target));
        }
        let is_known = self.id.is_some() || path == "_id" && self.tree.has("_id");
        if is_known && target == "_id" {
            return refuse(31250, "Path collision at _id");
        }
        Ok(())
    }

    /// Parses a `$slice` that `find` refuses as the operator of expressions.
    fn or_expression(
        &mut self,
        fault: ServerError,
        prefix: &str,
        name: &str,
        value: RawBsonRef<'_>,
    ) -> Result<(), ServerError> {
        let RawBsonRef::Document(written) = value else {
            return Err(fault);
        };
        // An invalid path is invalid for an expression, too.
        if joined(prefix, name)
            .split('.')
            .any(|part| part.starts_with('$'))
        {
            return Err(fault);
        }
        if elements(written)
            .next()
            .is_none_or(|(name, _)| name != "$slice")
        {
            return Err(fault);
        }
        self.plain(prefix, name, value).map_err(|other| {
            ServerError::new(
                other.code(),
                format!(
                    "Invalid $slice syntax. The given syntax {} did not match the find() syntax because :: Location{}: {} :: The given syntax did not match the expression $slice syntax. :: caused by :: {}",
                    messages::stored_document(written),
                    fault.code().number(),
                    fault.message(),
                    other.message()
                ),
            )
        })
    }

    fn transform(
        &mut self,
        path: &str,
        (bearing, target, transform): (ProjectionEffect, String, Arc<dyn Transform>),
    ) -> Result<(), ServerError> {
        if bearing == ProjectionEffect::Includes && self.met.positional {
            return refuse(
                31276,
                "Cannot specify more than one positional projection per query.",
            );
        }
        self.check_id(path)?;
        self.tree.insert(&target, Entry::Transform(transform))?;
        match bearing {
            ProjectionEffect::Includes => {
                self.settle(Kind::Include, path)?;
                self.met.positional = true;
            }
            ProjectionEffect::Otherwise(kind) => {
                self.met.matches_elements |= kind == Kind::Include;
                if self.otherwise != Some(Kind::Exclude) {
                    self.otherwise = Some(kind);
                }
            }
        }
        Ok(())
    }

    fn plain(
        &mut self,
        prefix: &str,
        name: &str,
        value: RawBsonRef<'_>,
    ) -> Result<(), ServerError> {
        let path = joined(prefix, name);
        check_position(&path)?;
        match value {
            _ if path.ends_with(".$") => {
                self.expression(&path, value)?;
            }
            RawBsonRef::Document(below) if !is_expression(below) => {
                if below.is_empty() {
                    return refuse(
                        51270,
                        "An empty sub-projection is not a valid value. Found empty object at path",
                    );
                }
                check_paths(name, &path)?;
                self.tree.enter(prefix, name)?;
                self.fields(below, &path)?;
            }
            value => match flag(value) {
                Some(keep) if path == "_id" => self.id = Some(keep),
                Some(true) => {
                    self.tree.insert_below(prefix, name, Entry::Keep)?;
                    self.settle(Kind::Include, name)?;
                }
                Some(false) => {
                    self.tree.insert_below(prefix, name, Entry::Drop)?;
                    self.settle(Kind::Exclude, name)?;
                }
                None => {
                    check_paths(name, &path)?;
                    if self.kind == Some(Kind::Exclude) && matches!(value, RawBsonRef::Document(_))
                    {
                        return refuse(
                            31252,
                            "Cannot use expression other than $meta in exclusion projection",
                        );
                    }
                    let expression = self.expression(&path, value)?;
                    if self.kind == Some(Kind::Exclude) {
                        self.tree
                            .insert_below(prefix, name, Entry::Compute(expression))?;
                        return refuse(
                            31310,
                            format!(
                                "Cannot use an expression {} in an exclusion projection",
                                messages::element(name, value)
                            ),
                        );
                    }
                    self.kind = Some(Kind::Include);
                    self.tree
                        .insert_below(prefix, name, Entry::Compute(expression))?;
                }
            },
        }
        Ok(())
    }

    fn expression(&self, path: &str, value: RawBsonRef<'_>) -> Result<Expression, ServerError> {
        if path.ends_with(".$") {
            return refuse(
                31324,
                "Cannot use positional projection in aggregation projection",
            );
        }
        Expression::parse(value, self.scope).map_err(|error| unknown_here(error, value))
    }

    fn settle(&mut self, kind: Kind, path: &str) -> Result<(), ServerError> {
        match (self.kind, kind) {
            (Some(Kind::Include), Kind::Exclude) => refuse(
                31254,
                format!("Cannot do exclusion on field {path} in inclusion projection"),
            ),
            (Some(Kind::Exclude), Kind::Include) => refuse(
                31253,
                format!("Cannot do inclusion on field {path} in exclusion projection"),
            ),
            _ => {
                self.kind = Some(kind);
                Ok(())
            }
        }
    }
}

/// Rewords the error about an unknown operator as projections do, unless it stands in the arguments of another
/// operator.
fn unknown_here(error: ServerError, value: RawBsonRef<'_>) -> ServerError {
    let RawBsonRef::Document(written) = value else {
        return error;
    };
    let name = error
        .message()
        .strip_prefix("Unrecognized expression '")
        .and_then(|rest| rest.strip_suffix('\''))
        .filter(|name| {
            elements(written)
                .next()
                .is_some_and(|(known, _)| known == *name)
        });
    match name {
        Some("$elemMatch") => {
            ServerError::new(error.code(), "Cannot use $elemMatch in this context")
        }
        Some(name) => ServerError::new(Code::location(31325), format!("Unknown expression {name}")),
        None => error,
    }
}

/// Rewords the error about a path collision as `$set` does.
fn collision(error: ServerError, spec: &RawDocument) -> ServerError {
    let Some(rest) = error.message().strip_prefix("Path collision at ") else {
        return error;
    };
    let (path, other) = if let Some((path, below)) = rest.split_once(" remaining portion ") {
        let parent = path
            .strip_suffix(below)
            .and_then(|parent| parent.strip_suffix('.'));
        (path, parent.unwrap_or(path))
    } else {
        let below = elements(spec).map(|(name, _)| name).find(|name| {
            name.strip_prefix(rest)
                .is_some_and(|end| end.starts_with('.'))
        });
        (rest, below.unwrap_or(rest))
    };
    ServerError::new(
        Code::location(40176),
        format!(
            "specification contains two conflicting paths. Cannot specify both '{path}' and '{other}': {}",
            messages::stored_document(spec)
        ),
    )
}

fn is_meta(value: RawBsonRef<'_>) -> bool {
    let RawBsonRef::Document(document) = value else {
        return false;
    };
    let mut fields = elements(document);
    matches!((fields.next(), fields.next()), (Some(("$meta", _)), None))
}

/// Reads a flag, by which a number or a boolean keeps or drops its field.
fn flag(value: RawBsonRef<'_>) -> Option<bool> {
    (matches!(value, RawBsonRef::Boolean(_)) || Number::from_raw(value).is_some())
        .then(|| Value::Ref(value).truthy())
}
