//! Reads `$densify`.

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::units::Unit;
use odm_language::expression::{Globals, compat::messages, field_path};
use odm_language::value::number::Number;
use odm_language::value::raw::{append, elements, values};

use crate::pipeline::stage::Stage;
use crate::pipeline::stages::sequence::Sequence;
use crate::pipeline::stages::set_window_fields::{
    document_option, failed_to_parse, missing_option, no_object, unknown_option, wrong_type,
};
use crate::pipeline::stages::sort;

use super::{Bounds, Densify, Step, refuse};

const RANGE: &str = "$densify.range";

pub(in crate::pipeline::stages) fn parse(
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
    let (mut field, mut partition, mut range) = (None, Vec::new(), None);
    for (option, value) in elements(spec) {
        match (option, value) {
            ("field", RawBsonRef::String(path)) => field = Some(path),
            ("field", other) => return wrong_type(name, option, other, "string"),
            ("partitionByFields", RawBsonRef::Array(paths)) => partition = names(name, paths)?,
            ("partitionByFields", RawBsonRef::Null) => return no_object(option),
            ("partitionByFields", other) => return wrong_type(name, option, other, "array"),
            ("range", value) => range = document_option(name, option, value)?.map(Range::read),
            (other, _) => return unknown_option(name, other),
        }
    }
    let range = range.transpose()?;
    let Some(field) = field else {
        return missing_option(name, "field");
    };
    let Some(range) = range else {
        return missing_option(name, "range");
    };
    let path = field_path(field)?;
    let paths: Vec<_> = partition
        .iter()
        .map(|path| field_path(path))
        .collect::<Result<_, _>>()?;
    let shown = range.shown();
    let (step, bounds) = range.check(!paths.is_empty())?;
    let mut order = RawDocumentBuf::new();
    if !matches!(bounds, Bounds::Full) {
        for path in partition.iter().filter(|path| **path != field) {
            append(&mut order, path, RawBsonRef::Int32(1));
        }
    }
    append(&mut order, field, RawBsonRef::Int32(1));
    let stage = Densify {
        field: path,
        partition: paths,
        step,
        bounds,
        written: doc! {
            "field": field,
            "partitionByFields": partition.as_slice(),
            "range": shown,
        },
    };
    Ok(Sequence::boxed(vec![
        sort::parse("$sort", RawBsonRef::Document(&order), globals)?,
        Box::new(stage),
    ]))
}

/// The strings of an array.
fn names<'s>(stage: &str, array: &'s RawArray) -> Result<Vec<&'s str>, ServerError> {
    let names = values(array).enumerate();
    names
        .map(|(at, name)| match name {
            RawBsonRef::String(name) => Ok(name),
            other => wrong_type(stage, &format!("partitionByFields.{at}"), other, "string"),
        })
        .collect()
}

/// The `range`, with options of the right types.
#[derive(Debug)]
struct Range<'s> {
    step: Number,
    bounds: RawBsonRef<'s>,
    unit: Option<&'s str>,
}

impl<'s> Range<'s> {
    fn shown(&self) -> Document {
        let mut shown = doc! {
            "step": Bson::try_from(self.step.to_raw()).unwrap_or(Bson::Null),
            "bounds": Bson::try_from(self.bounds).unwrap_or(Bson::Null),
        };
        if let Some(unit) = self.unit {
            shown.insert("unit", unit);
        }
        shown
    }

    fn read(range: &'s RawDocument) -> Result<Self, ServerError> {
        let (mut step, mut bounds, mut unit) = (None, None, None);
        for (option, value) in elements(range) {
            match (option, value) {
                ("step", value) => match Number::from_raw(value) {
                    Some(number) => step = Some(number),
                    None => {
                        return wrong_types(option, value);
                    }
                },
                ("bounds", value) => bounds = Some(value),
                ("unit", RawBsonRef::String(name)) => unit = Some(name),
                ("unit", RawBsonRef::Null) => {}
                ("unit", other) => return wrong_type(RANGE, option, other, "string"),
                (other, _) => return unknown_option(RANGE, other),
            }
        }
        let Some(step) = step else {
            return missing_option(RANGE, "step");
        };
        let Some(bounds) = bounds else {
            return missing_option(RANGE, "bounds");
        };
        Ok(Self { step, bounds, unit })
    }

    fn check(&self, is_partitioned: bool) -> Result<(Step, Bounds), ServerError> {
        if self.step.is_nan() || !self.step.compare(Number::Int32(0)).is_gt() {
            return refuse(
                5_733_401,
                "The step parameter in a range statement must be a strictly positive numeric value",
            );
        }
        let step = match self.unit {
            None => Step::Number(self.step),
            Some(name) => {
                let unit = Unit::parse(name)?;
                let Some(amount) = self.step.to_i64_exact() else {
                    return refuse(
                        6_586_400,
                        "The step parameter in a range statement must be a whole number when densifying a date range",
                    );
                };
                Step::Units {
                    amount,
                    unit,
                    name: name.to_owned(),
                }
            }
        };
        let bounds = match self.bounds {
            RawBsonRef::Array(pair) => {
                let mut items = values(pair);
                match (items.next(), items.next(), items.next()) {
                    (Some(lower), Some(upper), None) => self.explicit(lower, upper)?,
                    _ => {
                        return refuse(
                            5_733_403,
                            "A bounding array in a range statement must have exactly two elements",
                        );
                    }
                }
            }
            RawBsonRef::String("full") => Bounds::Full,
            RawBsonRef::String("partition") if is_partitioned => Bounds::Partition,
            RawBsonRef::String("partition") => {
                return refuse(
                    5_733_408,
                    "One cannot specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. You may have meant to specify 'full' bounds.",
                );
            }
            RawBsonRef::String(_) => {
                return refuse(
                    5_946_802,
                    "Bounds string must either be 'full' or 'partition'",
                );
            }
            _ => {
                return refuse(
                    5_733_404,
                    "The bounds in a range statement must be the string 'full', 'partition', or an ascending array of two numbers or two dates",
                );
            }
        };
        Ok((step, bounds))
    }

    fn explicit(
        &self,
        lower: RawBsonRef<'_>,
        upper: RawBsonRef<'_>,
    ) -> Result<Bounds, ServerError> {
        let is_date = |bound| matches!(bound, RawBsonRef::DateTime(_));
        let is_number = |bound| Number::from_raw(bound).is_some();
        let is_bound = |bound| is_date(bound) || is_number(bound);
        if !is_bound(lower) || !is_bound(upper) {
            return refuse(5_946_800, "Explicit bounds must be numeric or dates");
        }
        let descends = if let (RawBsonRef::DateTime(lower), RawBsonRef::DateTime(upper)) =
            (lower, upper)
        {
            if self.unit.is_none() {
                return refuse(5_733_410, "A bounding array of dates must specify a unit");
            }
            lower > upper
        } else {
            let (Some(from), Some(to)) = (Number::from_raw(lower), Number::from_raw(upper)) else {
                return refuse(
                    5_733_406,
                    "A bounding array must contain either both dates or both numeric types",
                );
            };
            if self.unit.is_some() {
                return refuse(5_733_409, "Numeric bounds may not have unit parameter");
            }
            from.compare(to).is_gt()
        };
        if descends {
            return refuse(
                5_733_402,
                "A bounding array must be an ascending array of either two dates or two numbers",
            );
        }
        let step = self.step.to_raw().element_type();
        if self.unit.is_none() && (lower.element_type() != step || upper.element_type() != step) {
            return refuse(
                5_876_900,
                "Upper bound, lower bound, and step must all have the same type",
            );
        }
        Ok(Bounds::Explicit(lower.into(), upper.into()))
    }
}

fn wrong_types<T>(option: &str, value: RawBsonRef<'_>) -> Result<T, ServerError> {
    Err(ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "BSON field '{RANGE}.{option}' is the wrong type '{}', expected types '[int, decimal, double, long']",
            messages::type_name(Some(value))
        ),
    ))
}
