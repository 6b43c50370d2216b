//! `$fill`: replaces null and missing values. It is short for `$setWindowFields`, for the values that depend on other
//! documents, and `$addFields`, for the rest.

use bson::raw::{RawArray, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Globals, compat::messages};
use odm_language::value::raw::{append, elements, values};

use crate::pipeline::stage::Stage;
use crate::pipeline::stages::sequence::Sequence;
use crate::pipeline::stages::set_window_fields::{
    self, Options, document_option, failed_to_parse, missing_option, no_object, unknown_option,
    wrong_type,
};
use crate::pipeline::stages::{inhibit, reshape};

pub(super) fn parse(
    name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let RawBsonRef::Document(spec) = spec else {
        return failed_to_parse(format!(
            "The {name} stage specification must be an object, found {}",
            messages::type_name(Some(spec))
        ));
    };
    let (mut partition, mut fields, mut sort, mut output) = (None, None, None, None);
    for (option, value) in elements(spec) {
        match (option, value) {
            ("partitionBy", value) => partition = document_option(name, option, value)?,
            ("partitionByFields", RawBsonRef::Array(names)) => fields = Some(names),
            ("partitionByFields", RawBsonRef::Null) => return no_object(option),
            ("partitionByFields", other) => return wrong_type(name, option, other, "array"),
            ("sortBy", value) => sort = document_option(name, option, value)?,
            ("output", value) => output = document_option(name, option, value)?,
            (other, _) => return unknown_option(name, other),
        }
    }
    let by_fields = fields.map(partition_by).transpose()?;
    let Some(output) = output else {
        return missing_option(name, "output");
    };
    if partition.is_some() && fields.is_some() {
        return refuse(
            6_050_204,
            "Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'",
        );
    }
    let filled = Filled::parse(output)?;
    let mut stages = Vec::new();
    if !filled.functions.is_empty() {
        let options = Options {
            partition: partition.or(by_fields.as_deref()).map(RawBsonRef::Document),
            sort,
            output: Some(&filled.functions),
        };
        stages.extend(set_window_fields::stages(&options, globals)?);
    }
    if !filled.values.is_empty() {
        let values = RawBsonRef::Document(&filled.values);
        stages.push(reshape::set("$addFields", values, globals)?);
    }
    if stages.is_empty() {
        let nothing = RawBsonRef::Document(&filled.values);
        stages.push(inhibit::parse(name, nothing, globals)?);
    }
    Ok(Sequence::boxed(stages))
}

/// `["a", "b"]` becomes `{a: "$a", b: "$b"}`.
fn partition_by(names: &RawArray) -> Result<RawDocumentBuf, ServerError> {
    let mut partition = RawDocumentBuf::new();
    for (at, name) in values(names).enumerate() {
        let RawBsonRef::String(name) = name else {
            let option = format!("partitionByFields.{at}");
            return wrong_type("$fill", &option, name, "string");
        };
        append(
            &mut partition,
            name,
            RawBsonRef::String(&format!("${name}")),
        );
    }
    Ok(partition)
}

/// The outputs of the stages that `$fill` becomes.
#[derive(Debug, Default)]
struct Filled {
    /// Of `$setWindowFields`.
    functions: RawDocumentBuf,
    /// Of `$addFields`.
    values: RawDocumentBuf,
}

impl Filled {
    fn parse(output: &RawDocument) -> Result<Self, ServerError> {
        if output.is_empty() {
            return refuse(
                6_050_203,
                "The output field in '$fill' must contain an object with at least one element",
            );
        }
        let mut filled = Self::default();
        for (path, spec) in elements(output) {
            let RawBsonRef::Document(spec) = spec else {
                return refuse(
                    6_050_200,
                    "Each fill output specification must be an object with exactly one field",
                );
            };
            filled.add(path, spec)?;
        }
        Ok(filled)
    }

    fn add(&mut self, path: &str, spec: &RawDocument) -> Result<(), ServerError> {
        let (mut method, mut value) = (None, None);
        for (option, given) in elements(spec) {
            match (option, given) {
                ("method", RawBsonRef::String(name)) => method = Some(name),
                ("method", RawBsonRef::Null) => {}
                ("method", other) => return wrong_type("$fill", option, other, "string"),
                ("value", given) => value = Some(given),
                (other, _) => return unknown_option("$fill", other),
            }
        }
        let field = format!("${path}");
        match (method, value) {
            (Some(_), Some(_)) => refuse(
                6_050_201,
                "Each fill output specification must have exactly one of 'method' or 'value' fields, not both",
            ),
            (Some(method), None) => {
                let mut function = RawDocumentBuf::new();
                match method {
                    "locf" => function.append(cstr!("$locf"), field.as_str()),
                    "linear" => function.append(cstr!("$linearFill"), field.as_str()),
                    _ => return refuse(6_050_202, "Method must be either locf or linear"),
                }
                append(&mut self.functions, path, RawBsonRef::Document(&function));
                Ok(())
            }
            (None, Some(value)) => {
                let operands = [RawBson::String(field), value.into()];
                let mut filled = RawDocumentBuf::new();
                filled.append(
                    cstr!("$ifNull"),
                    RawBson::Array(operands.into_iter().collect()),
                );
                append(&mut self.values, path, RawBsonRef::Document(&filled));
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }
}

fn refuse<T>(code: i32, message: &str) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}
