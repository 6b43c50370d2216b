//! `$sample`: a number of random documents, in random order.

use bson::raw::RawBsonRef;
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::value::number::Number;
use odm_language::value::raw::elements;

use crate::pipeline::shown::{Dependencies, Printer, number, stage};
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, Stage};

#[derive(Debug)]
struct Sample(usize);

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let refuse = |code, message: String| Err(ServerError::new(Code::location(code), message));
    let RawBsonRef::Document(spec) = spec else {
        return refuse(
            28745,
            "the $sample stage specification must be an object".to_owned(),
        );
    };
    let mut size = None;
    for (name, value) in elements(spec) {
        if name != "size" {
            return refuse(28748, format!("unrecognized option to $sample: {name}"));
        }
        let Some(number) = Number::from_raw(value) else {
            return refuse(
                28746,
                "size argument to $sample must be a number".to_owned(),
            );
        };
        size = number.to_i64_truncated();
    }
    match size.map(usize::try_from) {
        Some(Ok(size)) => Ok(Box::new(Sample(size))),
        Some(Err(_)) => refuse(
            28747,
            "size argument to $sample must not be negative".to_owned(),
        ),
        None => refuse(28749, "$sample stage must specify a size".to_owned()),
    }
}

impl Stage for Sample {
    fn shown(&self, _printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let size = number(u64::try_from(self.0).unwrap_or(u64::MAX));
        Ok(vec![stage("$sample", doc! { "size": size })])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        Some(Dependencies::some(Vec::new()))
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let mut documents = input
            .map(|document| Ok((document?, cx.globals.known())))
            .collect::<Result<Vec<_>, ServerError>>()?;
        let mut picked = Vec::new();
        while picked.len() < self.0 && !documents.is_empty() {
            let among = u64::try_from(documents.len()).unwrap_or(u64::MAX);
            let index = usize::try_from(cx.source.random() % among).unwrap_or(0);
            picked.push(documents.swap_remove(index));
        }
        Ok(Box::new(picked.into_iter().map(|(document, known)| {
            cx.globals.set_known(known);
            Ok(document)
        })))
    }
}
