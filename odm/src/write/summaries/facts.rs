//! The values of summaries, and the documents in which they are written.

use std::collections::BTreeMap;
use std::sync::Arc;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, RawBson, doc};
use odm_language::value::key;
use odm_language::value::number::Number;

use super::super::fences::Fences;
use super::super::reference_place::{ReferencePlace, any_differs, exact_read, exactly};
use super::number;
use crate::error::{Error, Result, SummaryError};
use crate::exec::{Channel, Keys, StoredPath};
use crate::model::summaries::{Summaries, SummaryField};
use crate::model::types::TypeMeta;
use crate::model::{BsonType, Guarantee, Shape, SummaryKind, name};
use crate::store::Operation;
use crate::update::maintain;

/// The summaries of one relation, and where they are computed and stored.
#[derive(Debug)]
pub(in crate::write) struct Summed {
    pub(in crate::write) summaries: &'static Summaries,
    /// Where the summarized documents store their reference.
    pub(in crate::write) place: ReferencePlace,
    /// The stored path of the reference.
    pub(in crate::write) reference: StoredPath,
    /// The stored path of the field to which the reference leads, in the documents that hold the summaries.
    pub(in crate::write) key: StoredPath,
}

/// The summaries of the documents with these keys, as they were computed at one time.
#[derive(Debug, Default)]
pub(in crate::write) struct Values {
    keys: Keys,
    /// In the order of the keys; a key to which no document refers has values, too.
    computed: Vec<Computed>,
}

/// The summaries of one document, in the order of the fields.
#[derive(Debug)]
struct Computed {
    values: Vec<Value>,
    /// All of them, as they are stored.
    bytes: Vec<u8>,
}

/// The value that a summary has to have.
#[derive(Debug)]
enum Value {
    Stored(Bson),
    /// The field is left out.
    None,
    /// The field can't store the value.
    Unfit(Bson),
}

/// A summary that does not have the value which was computed.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) field: &'static SummaryField,
    pub(super) stored: Option<Bson>,
    pub(super) computed: Option<Bson>,
}

impl Summed {
    pub(in crate::write) fn new(summaries: &'static Summaries) -> Result<Self> {
        let place = ReferencePlace::at(summaries.target, summaries.relation.by)?;
        let key = name::resolve((summaries.model.embedded)(), summaries.relation.key)?;
        Ok(Self {
            summaries,
            reference: StoredPath::at(&place.path()),
            place,
            key: StoredPath::through_arrays(&key.path),
        })
    }

    pub(in crate::write) fn all(
        summaries: impl IntoIterator<Item = &'static Summaries>,
    ) -> Result<Vec<Arc<Self>>> {
        let all = summaries.into_iter();
        all.map(|one| Self::new(one).map(Arc::new)).collect()
    }

    /// Whether writes that depend on each other conflict, so that no second look is needed.
    pub(in crate::write) fn is_strict(&self) -> bool {
        self.summaries.relation.guarantee() == Guarantee::Strict
    }

    /// Adds the fences of the documents with these keys.
    pub(in crate::write) fn fence(
        &self,
        channel: &Channel<'_>,
        keys: &Keys,
        fences: &mut Fences,
    ) -> Result<()> {
        let holder = channel.collection(self.summaries.model);
        fences.add(&holder, self.key.as_str(), keys)
    }

    /// The fields of a document that holds the summaries: the key, and the summaries.
    pub(super) fn projection(&self) -> Document {
        let mut projection = doc! {"_id": 1, self.key.as_str(): 1};
        for field in &self.summaries.fields {
            projection.insert(field.name, 1);
        }
        projection
    }

    /// Computes the summaries of documents with these keys, for each to which a document refers.
    fn pipeline(&self, keys: &[Bson]) -> Vec<Document> {
        let mut group = doc! {"_id": format!("${}", self.reference.as_str())};
        for (position, field) in self.summaries.fields.iter().enumerate() {
            group.insert(output(position), accumulator(field));
        }
        vec![
            doc! {"$match": self.place.refers_to(keys)},
            doc! {"$group": group},
        ]
    }
}

/// The field of a group that has the summary.
fn output(position: usize) -> String {
    format!("summary{position}")
}

fn accumulator(field: &SummaryField) -> Document {
    let Some(source) = &field.source else {
        return doc! {"$sum": 1};
    };
    let value = Bson::from(format!("${}", source.path));
    let is_decimal = number::types(field.ty) == Some(&[BsonType::Decimal]);
    let operator = match field.kind {
        SummaryKind::Count | SummaryKind::Sum => "$sum",
        SummaryKind::Mean => "$avg",
        SummaryKind::Min => "$min",
        SummaryKind::Max => "$max",
    };
    let (types, fit) = match field.kind {
        // `$min` and `$max` compare values of all types: a string would be larger than every number.
        SummaryKind::Min | SummaryKind::Max => (types(&source.ty), value.clone()),
        // A sum of integers beyond 64 bits is a double, which has fewer digits.
        _ if is_decimal => (Types::Numbers, doc! {"$toDecimal": &value}.into()),
        // `$sum` and `$avg` ignore what is not a number.
        _ => (Types::Any, value.clone()),
    };
    let is_fit = match types {
        Types::Any => return doc! {operator: value},
        Types::Numbers => doc! {"$isNumber": value},
        Types::These(names) => doc! {"$in": [{"$type": value}, names]},
    };
    doc! {operator: {"$cond": [is_fit, fit, Bson::Null]}}
}

/// The types of the values that count.
enum Types {
    Any,
    Numbers,
    /// Their names.
    These(Vec<&'static str>),
}

fn types(ty: &TypeMeta) -> Types {
    if number::types(ty).is_some() {
        return Types::Numbers;
    }
    match ty.shape {
        Shape::Any | Shape::Array { .. } | Shape::Tuple(_) => Types::Any,
        Shape::Scalar(types) => Types::These(types.iter().map(|one| one.alias()).collect()),
        Shape::OneOf(_) => Types::These(vec![BsonType::String.alias()]),
        Shape::Map(_) | Shape::Embedded(_) => Types::These(vec![BsonType::Object.alias()]),
        Shape::Reference { id, .. } => types(id),
    }
}

impl Values {
    /// Computes the summaries of the documents with these keys.
    pub(in crate::write) async fn read(
        channel: &mut Channel<'_>,
        summed: &Summed,
        keys: &Keys,
    ) -> Result<Self> {
        let mut found: Vec<Option<Computed>> = Vec::new();
        found.resize_with(keys.len(), || None);
        let target = summed.summaries.target;
        for part in keys.parts() {
            let aggregate = Operation::Aggregate {
                pipeline: summed.pipeline(&part),
            };
            let options = exact_read(channel, target, None);
            let read = channel.of(target).read(aggregate, options, |group| {
                let key = group.get("_id").map_err(Error::encode)?;
                let position = key.and_then(|key| keys.position(key));
                if let Some(found) = position.and_then(|it| found.get_mut(it)) {
                    *found = Some(Computed::new(summed, Some(group))?);
                }
                Ok(())
            });
            read.await?;
        }
        let computed = found.into_iter().map(|found| match found {
            Some(computed) => Ok(computed),
            None => Computed::new(summed, None),
        });
        Ok(Self {
            computed: computed.collect::<Result<_>>()?,
            keys: keys.clone(),
        })
    }

    /// Whether both were computed with the same result.
    pub(in crate::write) fn are(&self, others: &Self) -> bool {
        let own = self.computed.iter().map(|one| &one.bytes);
        own.eq(others.computed.iter().map(|one| &one.bytes))
    }

    /// The values for a document.
    fn of(&self, summed: &Summed, document: &RawDocument) -> Option<&Computed> {
        let position = self.keys.position(summed.key.value(document)?)?;
        self.computed.get(position)
    }

    /// Writes the values into documents that differ; returns how many were written.
    ///
    /// # Errors
    ///
    /// A field can't store its value. Nothing was written.
    pub(in crate::write) async fn write(
        &self,
        channel: &mut Channel<'_>,
        summed: &Summed,
    ) -> Result<u64> {
        let statements = self.statements(summed)?.into_iter();
        let statements: Result<Vec<RawDocumentBuf>> = statements
            .map(|one| RawDocumentBuf::try_from(one).map_err(Error::encode))
            .collect();
        let mut documents = channel.of(summed.summaries.model);
        documents.update_in_batches(&statements?).await
    }

    fn statements(&self, summed: &Summed) -> Result<Vec<Document>> {
        let model = summed.summaries.model;
        // Documents with equal values share a statement.
        let mut groups: BTreeMap<&[u8], (&Computed, Keys)> = BTreeMap::new();
        for (position, computed) in self.computed.iter().enumerate() {
            let Some(key) = self.keys.get(position) else {
                break;
            };
            computed.refuse_unfit(summed, key)?;
            let group = groups.entry(&computed.bytes);
            let (_, keys) = group.or_insert_with(|| (computed, Keys::default()));
            let key = RawBson::try_from(key.clone()).map_err(Error::encode)?;
            keys.add(key.as_raw_bson_ref())?;
        }
        let mut statements = Vec::new();
        for (computed, keys) in groups.into_values() {
            let values: Vec<(&str, Option<&Bson>)> = computed.named(summed).collect();
            let mut change = change(&values);
            maintain::change(&maintain::fields(model), &mut change);
            for part in keys.parts() {
                let mut filter = doc! {summed.key.as_str(): {"$in": part}};
                filter.extend(any_differs(&values, str::to_owned));
                let statement = doc! {"q": filter, "u": change.clone(), "multi": true};
                statements.push(exactly(model, statement));
            }
        }
        Ok(statements)
    }

    /// How the summaries in a document differ from the values; `is_exact` also finds what differs by rounding only.
    pub(super) fn differences(
        &self,
        summed: &Summed,
        document: &RawDocument,
        is_exact: bool,
    ) -> Result<Vec<Difference>> {
        let Some(computed) = self.of(summed, document) else {
            return Ok(Vec::new());
        };
        let mut differences = Vec::new();
        for (field, value) in summed.summaries.fields.iter().zip(&computed.values) {
            let stored = document.get(field.name).map_err(Error::encode)?;
            if !value.is_equal(field, stored, is_exact)? {
                let stored = stored.map(Bson::try_from).transpose();
                differences.push(Difference {
                    field,
                    stored: stored.map_err(Error::encode)?,
                    computed: value.shown().cloned(),
                });
            }
        }
        Ok(differences)
    }
}

/// The operators that give the summaries these values; those without a value are removed.
fn change(values: &[(&str, Option<&Bson>)]) -> Document {
    let (mut set, mut unset) = (Document::new(), Document::new());
    for (name, value) in values {
        match value {
            Some(value) => set.insert(*name, (*value).clone()),
            None => unset.insert(*name, ""),
        };
    }
    let operators = [("$set", set), ("$unset", unset)].into_iter();
    operators
        .filter(|(_, operands)| !operands.is_empty())
        .map(|(operator, operands)| (operator.to_owned(), operands.into()))
        .collect()
}

impl Computed {
    /// The values in a group, or those of no documents.
    fn new(summed: &Summed, group: Option<&RawDocument>) -> Result<Self> {
        let (mut values, mut all) = (Vec::new(), Document::new());
        for (position, field) in summed.summaries.fields.iter().enumerate() {
            let found = match group {
                Some(group) => group.get(output(position)).map_err(Error::encode)?,
                None => None,
            };
            let value = Value::new(field, found)?;
            all.insert(
                field.name,
                match &value {
                    Value::Stored(value) | Value::Unfit(value) => value.clone(),
                    Value::None => Bson::Undefined,
                },
            );
            values.push(value);
        }
        let bytes = RawDocumentBuf::try_from(all).map_err(Error::encode)?;
        Ok(Self {
            values,
            bytes: bytes.into_bytes(),
        })
    }

    /// The stored names and values; none where the field is left out.
    fn named(&self, summed: &Summed) -> impl Iterator<Item = (&'static str, Option<&Bson>)> {
        let fields = summed.summaries.fields.iter().zip(&self.values);
        fields.map(|(field, value)| (field.name, value.shown()))
    }

    fn refuse_unfit(&self, summed: &Summed, key: &Bson) -> Result<()> {
        let mut fields = summed.summaries.fields.iter().zip(&self.values);
        let unfit = fields.find_map(|(field, value)| match value {
            Value::Unfit(value) => Some((field, value)),
            _ => None,
        });
        let Some((field, value)) = unfit else {
            return Ok(());
        };
        let types = number::types(field.ty).unwrap_or_default().iter();
        let types: Vec<_> = types.map(|one| one.alias()).collect();
        let error = SummaryError {
            what: what(field, summed.summaries),
            value: value.clone(),
            key: summed.key.as_str().to_owned(),
            of: key.clone(),
            types: types.join(" or "),
        };
        let model = summed.summaries.model.name;
        Err(Error::new(error).with_path(field.name).with_model(model))
    }
}

/// What a summary is, in messages: "sum of `reviews.helpful`".
pub(super) fn what(field: &SummaryField, summaries: &Summaries) -> String {
    let (kind, relation) = (field.kind, summaries.relation.name);
    match &field.source {
        Some(source) => format!("{kind} of `{relation}.{}`", source.rust),
        None => format!("{kind} of `{relation}`"),
    }
}

impl Value {
    fn new(field: &SummaryField, found: Option<RawBsonRef<'_>>) -> Result<Self> {
        let found = match (found, field.kind) {
            (None | Some(RawBsonRef::Null), SummaryKind::Count | SummaryKind::Sum) => {
                RawBsonRef::Int32(0)
            }
            (None | Some(RawBsonRef::Null), _) if field.is_skipped => return Ok(Self::None),
            (None | Some(RawBsonRef::Null), _) => return Ok(Self::Stored(Bson::Null)),
            (Some(found), _) => found,
        };
        let number = Number::from_raw(found).filter(|_| number::types(field.ty).is_some());
        if let Some(value) = number.and_then(|number| number::stored(number, field.ty)) {
            return Ok(Self::Stored(value));
        }
        let value = Bson::try_from(found).map_err(Error::encode)?;
        Ok(match number {
            Some(_) => Self::Unfit(value),
            None => Self::Stored(value),
        })
    }

    fn shown(&self) -> Option<&Bson> {
        match self {
            Self::Stored(value) | Self::Unfit(value) => Some(value),
            Self::None => None,
        }
    }

    /// Whether a stored value needs no write.
    fn is_equal(
        &self,
        field: &SummaryField,
        stored: Option<RawBsonRef<'_>>,
        is_exact: bool,
    ) -> Result<bool> {
        let value = match self {
            Self::Stored(value) => value,
            Self::None => return Ok(stored.is_none()),
            Self::Unfit(_) => return Ok(false),
        };
        let Some(stored) = stored.filter(|stored| *stored != RawBsonRef::Null) else {
            return Ok(*value == Bson::Null);
        };
        let value = RawBson::try_from(value.clone()).map_err(Error::encode)?;
        let value = value.as_raw_bson_ref();
        if key::of(value, None) == key::of(stored, None) {
            return Ok(true);
        }
        let is_rounded = matches!(field.kind, SummaryKind::Sum | SummaryKind::Mean);
        let numbers = (Number::from_raw(value), Number::from_raw(stored));
        Ok(match numbers {
            (Some(value), Some(stored)) if is_rounded && !is_exact => {
                number::is_close(stored, value)
            }
            _ => false,
        })
    }
}

/// Looks again after a write: writes the values that are computed now, until they are those that were written last.
///
/// The last look is right. Whoever writes a summarized document afterwards looks after that, too. A strict transaction does not
/// look again, so each look writes its fence: then the look sees what the transaction has changed, or the transaction sees what
/// was written before the look.
pub(in crate::write) async fn settle(
    channel: &mut Channel<'_>,
    summed: &Summed,
    keys: &Keys,
    mut last: Option<Values>,
) -> Result<u64> {
    let mut written = 0;
    let mut fences = Fences::default();
    if summed.is_strict() {
        summed.fence(channel, keys, &mut fences)?;
    }
    loop {
        fences.write(channel, summed.summaries.model).await?;
        let values = Values::read(channel, summed, keys).await?;
        if last.as_ref().is_some_and(|last| last.are(&values)) {
            return Ok(written);
        }
        written += values.write(channel, summed).await?;
        last = Some(values);
    }
}
