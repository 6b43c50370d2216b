//! One field of `$group`: its accumulator, and the expression that feeds it.

use bson::raw::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::accumulate::Accumulator;
use odm_language::expression::percentile::{Percentile, has_accumulator};
use odm_language::expression::top_n::{self, Keep, TopN};
use odm_language::expression::{Expression, Globals, Scope, Value, compat::messages};
use odm_language::refusal;
use odm_language::value::key::{self, Direction};
use odm_language::value::print;
use odm_language::value::raw::{append, elements, empty_document, get};

use crate::pipeline::sort::SortPattern;
use crate::pipeline::stages::foreign::one;
use crate::pipeline::stages::group::percentile::Spec;
use crate::pipeline::stages::group::refuse;

#[derive(Debug)]
pub(in crate::pipeline::stages) struct Field {
    pub(in crate::pipeline::stages) name: String,
    /// The accumulator as it is written: `{$sum: 1}`.
    written: RawDocumentBuf,
    argument: Expression,
    rule: Rule,
}

#[derive(Debug)]
enum Rule {
    Plain(Accumulator),
    TopN {
        keep: Keep,
        /// `None` for `$top` and `$bottom`, which return a single value instead of an array.
        n: Option<Expression>,
        sort: Vec<(Expression, Direction)>,
    },
    /// `$median` and `$percentile`.
    Percentile(Spec),
}

/// The state of one field in one group.
#[derive(Debug, Clone)]
pub(in crate::pipeline::stages) enum State {
    Plain(Accumulator),
    Many(TopN),
    One(TopN),
}

impl State {
    /// The approximate bytes of the collected values.
    pub(in crate::pipeline::stages) fn size(&self) -> usize {
        match self {
            Self::Plain(accumulator) => accumulator.size(),
            Self::Many(ranked) | Self::One(ranked) => ranked.size(),
        }
    }

    pub(in crate::pipeline::stages) fn finish(self, globals: &Globals) -> RawBson {
        match self {
            Self::Plain(accumulator) => accumulator.finish(globals),
            Self::Many(ranked) => RawBson::Array(ranked.into_array()),
            Self::One(ranked) => ranked.into_value(),
        }
    }
}

/// Whether the engine supports an accumulator.
#[cfg(test)]
pub(crate) fn runs(operator: &str) -> bool {
    Keep::new(operator).is_some() || Accumulator::new(operator).is_some()
}

impl Field {
    /// The paths that its values depend on; `None` if that is the whole document.
    pub(in crate::pipeline::stages) fn paths(&self) -> Option<Vec<String>> {
        let mut paths = self.argument.paths()?;
        if let Rule::TopN { n, sort, .. } = &self.rule {
            for expression in n.iter().chain(sort.iter().map(|(by, _)| by)) {
                paths.extend(expression.paths()?);
            }
        }
        Some(paths)
    }

    /// Whether the field depends only on the first document.
    pub(in crate::pipeline::stages) fn is_first(&self) -> bool {
        matches!(self.rule, Rule::Plain(Accumulator::First(_)))
    }

    pub(in crate::pipeline::stages) fn parse(
        name: &str,
        spec: RawBsonRef<'_>,
        scope: &Scope,
    ) -> Result<Self, ServerError> {
        if name.contains('.') {
            return refuse(40235, format!("The field name '{name}' cannot contain '.'"));
        }
        if name.starts_with('$') {
            return refuse(
                40236,
                format!("The field name '{name}' cannot be an operator name"),
            );
        }
        let (operator, argument) = accumulator(name, spec)?;
        if operator == "$accumulator" {
            return Err(ServerError::new(
                Code::COMMAND_NOT_SUPPORTED,
                format!(
                    "the accumulator {operator} is not supported by the in-memory engine{}",
                    refusal::because(operator)
                ),
            ));
        }
        let argument = match argument {
            RawBsonRef::Document(none) if operator == "$count" && none.is_empty() => {
                RawBsonRef::Null
            }
            _ if operator == "$count" => {
                return Err(ServerError::new(
                    Code::TYPE_MISMATCH,
                    "$count takes no arguments, i.e. $count:{}",
                ));
            }
            argument => argument,
        };
        Self::accumulator(name, (operator, argument), scope)
    }

    /// A field that collects the values of an expression with an accumulator.
    pub(in crate::pipeline::stages) fn accumulator(
        name: &str,
        (operator, argument): (&str, RawBsonRef<'_>),
        scope: &Scope,
    ) -> Result<Self, ServerError> {
        let written = argument;
        let (rule, argument) = if let Some(keep) = Keep::new(operator) {
            Rule::ranked(operator, keep, argument, scope)?
        } else if has_accumulator(operator, scope.version()) {
            let (spec, input) = Spec::parse(operator, argument, scope)?;
            (Rule::Percentile(spec), input)
        } else {
            let Some(fresh) = Accumulator::new(operator) else {
                return refuse(15952, format!("unknown group operator '{operator}'"));
            };
            (Rule::Plain(fresh), Expression::parse(argument, scope)?)
        };
        Ok(Self {
            name: name.to_owned(),
            written: one(operator, written),
            argument,
            rule,
        })
    }

    /// The accumulator as mongod's `explain` shows it.
    pub(in crate::pipeline::stages) fn shown(&self, globals: &Globals) -> Document {
        let mut written = Document::try_from(&*self.written).unwrap_or_default();
        let operator = written.keys().next().cloned().unwrap_or_default();
        let argument = self.argument.optimized(globals);
        match &self.rule {
            Rule::Plain(_) if operator == "$count" => doc! { "$sum": { "$const": 1 } },
            Rule::Plain(_) => doc! { operator: argument },
            Rule::TopN { n, .. } => {
                let given = written.get_document_mut(&operator).ok();
                let sort = given.and_then(|given| given.remove("sortBy"));
                let mut shown = Document::new();
                if let Some(n) = n {
                    shown.insert("n", n.optimized(globals));
                }
                match sort {
                    Some(sort) => shown.extend(doc! { "output": argument, "sortBy": sort }),
                    None => {
                        shown.insert("input", argument);
                    }
                }
                doc! { operator: shown }
            }
            Rule::Percentile(_) => written,
        }
    }

    /// The state of `$median` and `$percentile`.
    pub(in crate::pipeline::stages) fn percentile(
        &self,
        globals: &Globals,
    ) -> Result<Option<Percentile>, ServerError> {
        match &self.rule {
            Rule::Percentile(spec) => spec.start(globals).map(Some),
            _ => Ok(None),
        }
    }

    /// The expression whose values it collects.
    pub(in crate::pipeline::stages) fn argument(&self) -> &Expression {
        &self.argument
    }

    pub(in crate::pipeline::stages) fn check_constants(
        &self,
        globals: &Globals,
    ) -> Result<(), ServerError> {
        match &self.rule {
            Rule::TopN { n: Some(n), .. } => n.check_constants(globals)?,
            Rule::Percentile(spec) => spec.start(globals).map(drop)?,
            _ => {}
        }
        self.argument.check_constants(globals)
    }

    /// Whether the number of values to keep is the same for every group.
    pub(in crate::pipeline::stages) fn has_fixed_size(
        &self,
        globals: &Globals,
    ) -> Result<bool, ServerError> {
        match &self.rule {
            Rule::TopN { n: Some(n), .. } => Ok(n.constant(globals)?.is_some()),
            _ => Ok(true),
        }
    }

    /// The state of a new group. The number of values to keep is computed from the group's id.
    pub(in crate::pipeline::stages) fn start(
        &self,
        id: RawBsonRef<'_>,
        globals: &Globals,
    ) -> Result<State, ServerError> {
        Ok(match &self.rule {
            Rule::Plain(fresh) => State::Plain(fresh.clone()),
            Rule::Percentile(spec) => State::Plain(Accumulator::Percentile(spec.start(globals)?)),
            Rule::TopN { keep, n: None, .. } => State::One(TopN::new(*keep, 1)),
            Rule::TopN {
                keep, n: Some(n), ..
            } => {
                let root = match id {
                    RawBsonRef::Document(id) => id,
                    _ => empty_document(),
                };
                let n = top_n::size(n.eval(root, globals)?.get())?;
                State::Many(TopN::new(*keep, n))
            }
        })
    }

    /// Like `add`, as mongod's classic engine does it, which has other errors than the one of `$group`, and evaluates
    /// nothing for a `$first` that has its value.
    pub(in crate::pipeline::stages) fn add_classic(
        &self,
        state: &mut State,
        document: &RawDocument,
        globals: &Globals,
    ) -> Result<(), ServerError> {
        if matches!(state, State::Plain(Accumulator::First(Some(_)))) {
            return Ok(());
        }
        let Err(error) = self.add(state, document, globals) else {
            return Ok(());
        };
        if error.code() != Code::location(5_911_200) {
            return Err(error);
        }
        let value = self.argument.eval(document, globals)?;
        refuse(
            40400,
            format!(
                "$mergeObjects requires object inputs, but input {} is of type {}",
                messages::computed(value.or_null()),
                messages::type_name(value.get())
            ),
        )
    }

    pub(in crate::pipeline::stages) fn add(
        &self,
        state: &mut State,
        document: &RawDocument,
        globals: &Globals,
    ) -> Result<(), ServerError> {
        let value = self.argument.eval(document, globals)?;
        match state {
            State::Plain(accumulator) => accumulator.add(&value, globals),
            State::Many(ranked) | State::One(ranked) => {
                let key = self.key(&value, document, globals)?;
                ranked.add(&value, || key);
                ranked.check_size()
            }
        }
    }

    /// The key that orders a value of the document among others.
    pub(in crate::pipeline::stages) fn key(
        &self,
        value: &Value<'_>,
        document: &RawDocument,
        globals: &Globals,
    ) -> Result<Vec<u8>, ServerError> {
        match &self.rule {
            Rule::TopN {
                sort,
                keep: Keep::Top | Keep::Bottom,
                ..
            } => sort_key(sort, document, globals),
            _ => Ok(key::of(value.or_null(), globals.collator())),
        }
    }
}

/// The sort key of `$top` and `$bottom`. Unlike `$sort`, they compare arrays as whole values, except that an empty
/// array comes first. As mongod collects the values in an array and reads them by their position, it takes a number that
/// is a field's name for a position, too.
fn sort_key(
    sort: &[(Expression, Direction)],
    document: &RawDocument,
    globals: &Globals,
) -> Result<Vec<u8>, ServerError> {
    let values = sort.iter().map(|(path, _)| path.eval(document, globals));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    check_positions(&values)?;
    let mut bytes = Vec::new();
    for (value, (_, direction)) in values.iter().zip(sort) {
        let value = match value.or_null() {
            RawBsonRef::Array(array) if array.is_empty() => RawBsonRef::Undefined,
            value => value,
        };
        key::append(&mut bytes, value, *direction, globals.collator());
    }
    Ok(bytes)
}

/// Refuses several arrays, and a document in which a field has the name of a position.
fn check_positions(values: &[Value<'_>]) -> Result<(), ServerError> {
    let is_array = |value: &&Value<'_>| matches!(value.get(), Some(RawBsonRef::Array(_)));
    if values.iter().filter(is_array).count() > 1 {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "cannot sort with keys that are parallel arrays",
        ));
    }
    let positions = (0..values.len()).map(|at| at.to_string());
    for value in values {
        let Some(RawBsonRef::Document(document)) = value.get() else {
            continue;
        };
        if let Some(name) = positions.clone().find(|at| get(document, at).is_some()) {
            let mut all = RawDocumentBuf::new();
            for (at, value) in positions.zip(values) {
                append(&mut all, &at, value.or_null());
            }
            return refuse(
                16746,
                format!(
                    "Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), field: '{name}' for array: {}",
                    print::document(&all)
                ),
            );
        }
    }
    Ok(())
}

/// The name and the operand of `{$sum: "$a"}`.
fn accumulator<'r>(
    name: &str,
    spec: RawBsonRef<'r>,
) -> Result<(&'r str, RawBsonRef<'r>), ServerError> {
    let no_accumulator = || {
        refuse(
            40234,
            format!("The field '{name}' must be an accumulator object"),
        )
    };
    let RawBsonRef::Document(spec) = spec else {
        return no_accumulator();
    };
    let mut parts = elements(spec);
    let Some((operator, argument)) = parts.next() else {
        return no_accumulator();
    };
    if parts.next().is_some() {
        return refuse(
            40238,
            format!("The field '{name}' must specify one accumulator"),
        );
    }
    if !operator.starts_with('$') {
        return no_accumulator();
    }
    if matches!(argument, RawBsonRef::Array(_)) {
        return refuse(
            40237,
            format!("The {operator} accumulator is a unary operator"),
        );
    }
    Ok((operator, argument))
}

impl Rule {
    /// The rule, and the expression whose values it collects.
    fn ranked(
        operator: &str,
        keep: Keep,
        argument: RawBsonRef<'_>,
        scope: &Scope,
    ) -> Result<(Self, Expression), ServerError> {
        let is_sorted = matches!(keep, Keep::Top | Keep::Bottom);
        let RawBsonRef::Document(document) = argument else {
            let code = match keep {
                Keep::First | Keep::Last => 5_787_801,
                Keep::Max | Keep::Min => 5_787_900,
                Keep::Top | Keep::Bottom => 5_788_001,
            };
            return refuse(
                code,
                format!(
                    "specification must be an object; found {}",
                    messages::element(operator, argument)
                ),
            );
        };
        let single = is_sorted && !operator.ends_with('N');
        let (mut n, mut input, mut sort) = (None, None, None);
        for (name, value) in elements(document) {
            match name {
                "n" if !single => n = Some(Expression::parse(value, scope)?),
                "input" if !is_sorted => input = Some(Expression::parse(value, scope)?),
                "output" if is_sorted => input = Some(Expression::parse(value, scope)?),
                "sortBy" if is_sorted => sort = Some(sort_by(value, scope)?),
                other if is_sorted => {
                    return refuse(
                        5_788_002,
                        format!("Unknown argument to {operator} '{other}'"),
                    );
                }
                other => {
                    return refuse(
                        5_787_901,
                        format!("Unknown argument for 'n' operator: {other}"),
                    );
                }
            }
        }
        let missing = |code, name| refuse(code, format!("Missing value for '{name}'"));
        if n.is_none() && !single {
            return missing(if is_sorted { 5_788_003 } else { 5_787_906 }, "n");
        }
        let Some(input) = input else {
            return if is_sorted {
                missing(5_788_004, "output")
            } else {
                missing(5_787_907, "input")
            };
        };
        let sort = match sort {
            None if is_sorted => return missing(5_788_005, "sortBy"),
            sort => sort.unwrap_or_default(),
        };
        Ok((Self::TopN { keep, n, sort }, input))
    }
}

/// The `sortBy` of `$top` and `$bottom`.
fn sort_by(
    value: RawBsonRef<'_>,
    scope: &Scope,
) -> Result<Vec<(Expression, Direction)>, ServerError> {
    let RawBsonRef::Document(spec) = value else {
        return refuse(10065, "invalid parameter: expected an object (sortBy)");
    };
    if spec.is_empty() {
        return Ok(Vec::new());
    }
    SortPattern::parse(spec)?
        .parts()
        .map(|(path, direction)| {
            let path = format!("${path}");
            Ok((
                Expression::parse(RawBsonRef::String(&path), scope)?,
                direction,
            ))
        })
        .collect()
}
