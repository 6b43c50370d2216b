//! `$regexFind $regexFindAll $regexMatch`.

use bson::raw::{RawArrayBuf, RawBsonRef, RawDocumentBuf};

use crate::error::{Code, ServerError, refuse};
use crate::expression::named::{BareArgument, Named, UNKNOWN_ARGUMENT, Wording};
use crate::expression::operator::{Args, ArgumentForm, Operator, Outcome, count, null, owned, row};
use crate::expression::value::Value;
use crate::regex::{Match, Regex};
use crate::value::raw::append;

const ARGUMENTS: ArgumentForm = ArgumentForm::Named(&Named {
    names: &["input", "regex", "options"],
    required: &[("input", 31022), ("regex", 31023)],
    missing: Wording("<operator> requires '<key>' parameter"),
    unknown: (31024, UNKNOWN_ARGUMENT),
    bare: BareArgument::Refused(
        51103,
        Wording("<operator> expects an object of named arguments but found: <type>"),
    ),
    ..Named::DEFAULT
});

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    row("$regexFind", ARGUMENTS, find),
    row("$regexFindAll", ARGUMENTS, find_all),
    row("$regexMatch", ARGUMENTS, matches),
];

/// Refuses constant patterns and options that are invalid for every document. mongod compiles them before it reads a
/// document.
pub(super) fn check(
    operator: &'static str,
    pattern: Value<'_>,
    options: Value<'_>,
    globals: &crate::expression::Globals,
) -> Result<(), ServerError> {
    let args = Args {
        operator,
        values: vec![Value::NULL, pattern, options],
        given: vec![true; 3],
        globals,
    };
    compile(&args).map(drop)
}

fn matches<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let input = input(args)?;
    let (Some(input), Some(regex)) = (input, compile(args)?) else {
        return owned(false);
    };
    owned(regex.is_match(input).map_err(|e| exhausted(args, &e))?)
}

fn find<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let input = input(args)?;
    let (Some(input), Some(regex)) = (input, compile(args)?) else {
        return null();
    };
    match next(&regex, input, &mut At::default()).map_err(|e| exhausted(args, &e))? {
        Some(found) => owned(found),
        None => null(),
    }
}

fn find_all<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let input = input(args)?;
    let mut all = RawArrayBuf::new();
    let (Some(input), Some(regex)) = (input, compile(args)?) else {
        return owned(all);
    };
    let mut at = At::default();
    loop {
        match next(&regex, input, &mut at).map_err(|e| exhausted(args, &e))? {
            Some(found) => all.push(found),
            None => break,
        }
        // An empty match at the end of the text does not count, unless the text is empty.
        if at.byte >= input.len() {
            break;
        }
    }
    owned(all)
}

/// The position where the search continues, in bytes and in code points.
#[derive(Debug, Default)]
struct At {
    byte: usize,
    point: usize,
}

impl At {
    fn advance(&mut self, text: &str, to: usize) {
        self.point += text
            .get(self.byte..to)
            .map_or(0, |over| over.chars().count());
        self.byte = to;
    }
}

/// The next match in mongod's form: its text, its index in code points, and its groups.
fn next(regex: &Regex, input: &str, at: &mut At) -> Result<Option<RawDocumentBuf>, ServerError> {
    let Some(Match { range, groups }) = regex.find(input, at.byte)? else {
        return Ok(None);
    };
    at.advance(input, range.start);
    let mut captures = RawArrayBuf::new();
    for group in groups {
        captures.push(group.map_or(RawBsonRef::Null, |group| {
            RawBsonRef::String(input.get(group).unwrap_or_default())
        }));
    }
    let mut found = RawDocumentBuf::new();
    let text = input.get(range.clone()).unwrap_or_default();
    append(&mut found, "match", RawBsonRef::String(text));
    append(&mut found, "idx", count(at.point).as_raw_bson_ref());
    append(&mut found, "captures", RawBsonRef::Array(&captures));
    let end = if range.is_empty() {
        let skipped = input.get(range.end..).and_then(|rest| rest.chars().next());
        range.end + skipped.map_or(0, char::len_utf8)
    } else {
        range.end
    };
    at.advance(input, end);
    Ok(Some(found))
}

fn input<'v>(args: &'v Args<'_>) -> Result<Option<&'v str>, ServerError> {
    match args.get(0) {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => Ok(None),
        Some(RawBsonRef::String(input)) => Ok(Some(input)),
        Some(_) => needs(args, "input", "string", 51104),
    }
}

fn needs<T>(args: &Args<'_>, what: &str, kind: &str, code: i32) -> Result<T, ServerError> {
    let operator = args.operator;
    refuse(
        code,
        format!("{operator} needs '{what}' to be of type {kind}"),
    )
}

/// Compiles the pattern; `None` if it is null.
fn compile(args: &Args<'_>) -> Result<Option<Regex>, ServerError> {
    let operator = args.operator;
    let (pattern, mut options) = match args.get(1) {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => (None, ""),
        Some(RawBsonRef::String(pattern)) => (Some(pattern), ""),
        Some(RawBsonRef::RegularExpression(regex)) => {
            (Some(regex.pattern.as_str()), regex.options.as_str())
        }
        Some(_) => return needs(args, "regex", "string or regex", 51105),
    };
    if args.is_present(2) && !args.is_nullish(2) {
        let Some(RawBsonRef::String(given)) = args.get(2) else {
            return needs(args, "options", "string", 51106);
        };
        if !options.is_empty() {
            return refuse(
                51107,
                format!(
                    "{operator}: found regex option(s) specified in both 'regex' and 'option' fields"
                ),
            );
        }
        options = given;
    }
    if pattern.is_some_and(|pattern| pattern.contains('\0')) {
        return refuse(
            51109,
            format!("{operator}: regular expression cannot contain an embedded null byte"),
        );
    }
    if options.contains('\0') {
        return refuse(
            51110,
            format!("{operator}: regular expression options cannot contain an embedded null byte"),
        );
    }
    if let Some(bad) = options.chars().find(|c| !"imsxu".contains(*c)) {
        return refuse(
            51108,
            format!("{operator} invalid flag in regex options: {bad}"),
        );
    }
    let Some(pattern) = pattern else {
        return Ok(None);
    };
    args.globals
        .regex(pattern, options)
        .map(Some)
        .map_err(|error| {
            match error
                .message()
                .strip_prefix("Regular expression is invalid: ")
            {
                Some(problem) => ServerError::new(
                    Code::location(51111),
                    format!("Invalid Regex in {operator}: {problem}"),
                ),
                None => error,
            }
        })
}

fn exhausted(args: &Args<'_>, error: &ServerError) -> ServerError {
    ServerError::new(
        error.code(),
        format!(
            "Error occurred while executing the regular expression in {}. Result code: -8",
            args.operator
        ),
    )
}
