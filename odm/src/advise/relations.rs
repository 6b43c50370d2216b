//! Relations whose documents could be embedded: how many there are of each document, and how large they are.

use bson::{Bson, Document, doc};

use super::lengths::Lengths;
use super::report::{number, percent, size};
use super::subject::Subject;
use super::survey::{FoundKeys, Survey};
use super::thresholds::{EMBEDDED_SIZE, FEW, ONE_PERCENT, RELATED, RELATED_SAMPLE};
use super::{Advice, AdviceCode, AdviceReport};
use crate::error::Result;
use crate::exec::{Keys, StoredPath};
use crate::model::copies::Copies;
use crate::model::{InverseKind, InverseMeta, ModelMeta, RelationMeta, Shape, name};
use crate::query::operators::any_of;
use crate::schema::normal::integer;
use crate::store::Store;

/// What could be embedded.
#[derive(Debug, Clone, Copy)]
enum Candidate {
    /// The documents that refer to those of the model.
    Inverse(&'static InverseMeta),
    /// The documents that those of the model refer to, and copy fields of.
    Reference(&'static Copies),
}

/// A relation to examine.
#[derive(Debug)]
pub(super) struct Related {
    candidate: Candidate,
    /// The model whose documents refer to the others.
    referring: &'static ModelMeta,
    /// The reference in them.
    reference: StoredPath,
    /// Whether a declared index finds documents by it.
    is_indexed: bool,
    /// The field of the examined model whose values are on both sides.
    pub(super) key: StoredPath,
}

/// The relations of the model whose documents could be embedded, by what the models declare.
pub(super) fn candidates(
    model: &'static ModelMeta,
    models: &[&'static ModelMeta],
) -> Result<Vec<Related>> {
    let mut found = Vec::new();
    for inverse in model
        .relations()
        .iter()
        .filter_map(RelationMeta::as_inverse)
    {
        let child = (inverse.target)();
        let is_kind = matches!(inverse.kind, InverseKind::One | InverseKind::Many);
        if is_kind && is_of_its_own(child) && !is_referred_to(child, models, None) {
            found.extend(by_inverse(model, inverse)?);
        }
    }
    for copies in model.copies()? {
        found.extend(by_reference(model, models, copies)?);
    }
    Ok(found)
}

fn by_inverse(model: &'static ModelMeta, inverse: &'static InverseMeta) -> Result<Option<Related>> {
    let referring = (inverse.target)();
    let reference = name::resolve((referring.embedded)(), inverse.by)?;
    let key = name::resolve((model.embedded)(), inverse.key)?;
    // DBRefs are documents, and a reference in a list belongs to several documents.
    let is_plain = matches!(
        reference.ty.shape,
        Shape::Reference { .. } | Shape::Scalar(_)
    );
    let is_other = referring.collection != model.collection;
    Ok(
        (is_plain && is_other && !reference.through_array).then(|| Related {
            candidate: Candidate::Inverse(inverse),
            referring,
            reference: StoredPath::through_arrays(&reference.path),
            is_indexed: referring.index_for(inverse.by).is_some(),
            key: StoredPath::through_arrays(&key.path),
        }),
    )
}

fn by_reference(
    model: &'static ModelMeta,
    models: &[&'static ModelMeta],
    copies: &'static Copies,
) -> Result<Option<Related>> {
    let source = copies.source;
    let by: Vec<&str> = copies.by.iter().map(String::as_str).collect();
    let relations = source.relations().iter();
    // A declared relation in the other direction is examined there.
    let is_declared_there = relations
        .filter_map(RelationMeta::as_inverse)
        .any(|inverse| (inverse.target)().collection == model.collection)
        && models.iter().any(|it| it.collection == source.collection);
    let refers = source
        .relations()
        .iter()
        .any(|it| it.as_reference().is_some());
    if by.len() != 1
        || is_declared_there
        || refers
        || source.collection == model.collection
        || !source.trees.is_empty()
        || is_referred_to(source, models, Some(model))
    {
        return Ok(None);
    }
    let reference = name::resolve((model.embedded)(), &by)?;
    let is_plain = matches!(
        reference.ty.shape,
        Shape::Reference { .. } | Shape::Scalar(_)
    );
    let path = StoredPath::through_arrays(&reference.path);
    Ok((is_plain && !reference.through_array).then(|| Related {
        candidate: Candidate::Reference(copies),
        referring: model,
        reference: path.clone(),
        is_indexed: model.index_for(&by).is_some(),
        key: path,
    }))
}

/// Whether documents of the model belong to those of one other model, and exist as long as these.
fn is_of_its_own(child: &'static ModelMeta) -> bool {
    let references = child
        .relations()
        .iter()
        .filter_map(RelationMeta::as_reference);
    let expires = child
        .indexes
        .iter()
        .any(|index| index.expire_after_seconds.is_some());
    let is_paired = child.relations().iter().any(|relation| {
        relation
            .as_reference()
            .is_some_and(|it| it.counterpart.is_some())
    });
    references.count() == 1
        && child.trees.is_empty()
        && child.capped.is_none()
        && !expires
        && !is_paired
}

/// Whether documents of one of these models refer to the model, other than those of `but`.
fn is_referred_to(
    target: &'static ModelMeta,
    models: &[&'static ModelMeta],
    but: Option<&'static ModelMeta>,
) -> bool {
    models.iter().any(|model| {
        let references = model
            .relations()
            .iter()
            .filter_map(RelationMeta::as_reference);
        let count = references
            .filter(|reference| reference.target.collection == target.collection)
            .count();
        let allowed = usize::from(but.is_some_and(|but| but.collection == model.collection));
        count > allowed
    })
}

/// The number of documents that refer to each of some others.
struct Referring {
    lengths: Lengths,
    bytes: u64,
}

impl Related {
    /// The advice about the relation, from the keys of the sampled documents. `is_whole` says whether these are all documents.
    pub(super) async fn advise(
        &self,
        store: &Store,
        subject: &Subject,
        survey: &Survey,
        is_whole: bool,
        report: &mut AdviceReport,
    ) -> Result<()> {
        let known = survey.keys.iter();
        let mut known = known.filter(|keys| keys.path.as_str() == self.key.as_str());
        let Some(keys) = known.next() else {
            return Ok(());
        };
        if (keys.keys.len() as u64) < RELATED {
            return Ok(());
        }
        let found = match self.candidate {
            Candidate::Reference(_) if is_whole => Referring::of_whole(keys),
            _ if !self.is_indexed => {
                report.not_examined.push(format!(
                    "{}: no index of `{}` starts with `{}`, and a count would read the whole collection",
                    self.title(subject),
                    self.referring.name,
                    self.reference.as_str(),
                ));
                return Ok(());
            }
            _ => {
                let counted = self.count(store, &keys.keys).await;
                let what = || self.title(subject);
                report.unless_refused(what, counted)?.flatten()
            }
        };
        let Some(found) = found else {
            return Ok(());
        };
        let advice = match self.candidate {
            Candidate::Inverse(inverse) if inverse.kind == InverseKind::One => {
                one_apart(subject, inverse, &found, survey.mean())
            }
            Candidate::Inverse(inverse) => few(subject, inverse, &found, survey.mean()),
            Candidate::Reference(copies) => referred_once(subject, copies, &found),
        };
        report.advice.extend(advice);
        Ok(())
    }

    fn title(&self, subject: &Subject) -> String {
        let name = match self.candidate {
            Candidate::Inverse(inverse) => inverse.name.to_owned(),
            Candidate::Reference(copies) => copies.by.join("."),
        };
        format!("the relation `{name}` of {}", subject.title())
    }

    /// Counts the documents that refer to each of the first of these keys; none if they are more than a few, on average.
    async fn count(&self, store: &Store, keys: &Keys) -> Result<Option<Referring>> {
        let keys = Keys::of(keys.values().iter().take(RELATED_SAMPLE))?;
        let path = self.reference.as_str();
        let mut referring = Referring {
            lengths: Lengths::default(),
            bytes: 0,
        };
        let mut without = keys.len() as u64;
        let collection = store.names().of_model(self.referring);
        for part in keys.parts() {
            let most = (part.len() as u64).saturating_mul(FEW) + 1;
            let group = doc! {
                "_id": format!("${path}"),
                "n": {"$sum": 1},
                "bytes": {"$sum": {"$bsonSize": "$$ROOT"}},
            };
            let mut condition = any_of(path, part);
            if let Some(of) = self.referring.variant_of {
                condition.extend(of.filter());
            }
            let pipeline = vec![
                doc! {"$match": condition},
                doc! {"$limit": number(most)},
                doc! {"$group": group},
            ];
            let command = doc! {"aggregate": &*collection, "pipeline": pipeline, "cursor": {}};
            let groups = store.run_cursor(command).await;
            let mut counted = 0;
            for group in groups.map_err(|error| error.with_model(self.referring.name))? {
                let count = natural(&group, "n");
                counted += count;
                referring.lengths.add(count);
                referring.bytes += natural(&group, "bytes");
                without = without.saturating_sub(1);
            }
            if counted >= most {
                return Ok(None);
            }
        }
        (0..without).for_each(|_| referring.lengths.add(0));
        Ok(Some(referring))
    }
}

fn natural(group: &Document, name: &str) -> u64 {
    let value = group.get(name).and_then(integer);
    value
        .and_then(|value| u64::try_from(value).ok())
        .unwrap_or(0)
}

impl Referring {
    /// How often each of all keys occurs, if each occurs once.
    fn of_whole(keys: &FoundKeys) -> Option<Self> {
        let different = keys.keys.len() as u64;
        (keys.values == different).then(|| {
            let mut lengths = Lengths::default();
            (0..different).for_each(|_| lengths.add(1));
            Self { lengths, bytes: 0 }
        })
    }

    /// The mean size in bytes of one document that refers to another.
    fn mean(&self) -> u64 {
        self.bytes.checked_div(self.lengths.sum()).unwrap_or(0)
    }
}

fn one_apart(
    subject: &Subject,
    inverse: &'static InverseMeta,
    found: &Referring,
    mean: u64,
) -> Option<Advice> {
    let Referring { lengths, .. } = found;
    let (one, all) = (lengths.count(1), lengths.total());
    let share = percent(one, all);
    let together = mean + found.mean();
    if one < RELATED || share < ONE_PERCENT || lengths.max() > 1 || together > EMBEDDED_SIZE {
        return None;
    }
    let child = (inverse.target)().name;
    Some(Advice {
        figures: doc! {
            "documents": number(all),
            "with_one": number(one),
            "percent": number(share),
            "mean": number(mean),
            "mean_of_other": number(found.mean()),
        },
        message: format!(
            "{share} % of {all} documents have exactly one `{child}` (`{}`), of {} on average, which every read together has to \
             join",
            inverse.name,
            size(found.mean()),
        ),
        remedy: format!(
            "embed `{child}` as a field of `{}`, in place of the relation `{}`",
            subject.model.name, inverse.name
        ),
        ..subject.advice(AdviceCode::StoredApart)
    })
}

fn few(
    subject: &Subject,
    inverse: &'static InverseMeta,
    found: &Referring,
    mean: u64,
) -> Option<Advice> {
    let Referring { lengths, .. } = found;
    let with_some = lengths.total() - lengths.count(0);
    let [p50, p90, p99] = [50, 90, 99].map(|percent| lengths.percentile(percent));
    let together = mean.saturating_add(p99.saturating_mul(found.mean()));
    if with_some < RELATED || p99 > FEW || together > EMBEDDED_SIZE {
        return None;
    }
    let child = (inverse.target)().name;
    Some(Advice {
        figures: doc! {
            "documents": number(lengths.total()),
            "with_some": number(with_some),
            "p50": number(p50),
            "p90": number(p90),
            "p99": number(p99),
            "max": number(lengths.max()),
            "mean": number(mean),
            "mean_of_other": number(found.mean()),
        },
        message: format!(
            "of {} documents, the median has {p50} `{child}` (`{}`), the 99th percentile {p99} and the largest number is {}, of {} \
             each on average",
            lengths.total(),
            inverse.name,
            lengths.max(),
            size(found.mean()),
        ),
        remedy: format!(
            "if they do not become more and are read together, embed them: `#[odm(embed(few, max = …))]` on a list of `{child}` in \
             `{}`, in place of the relation `{}`",
            subject.model.name, inverse.name
        ),
        ..subject.advice(AdviceCode::FewEnoughToEmbed)
    })
}

fn referred_once(subject: &Subject, copies: &Copies, found: &Referring) -> Option<Advice> {
    let Referring { lengths, .. } = found;
    let all = lengths.total();
    if all < RELATED || lengths.count(1) < all {
        return None;
    }
    let (by, source) = (copies.by.join("."), copies.source.name);
    let copied: Vec<Bson> = copies
        .fields
        .iter()
        .map(|field| field.rust.into())
        .collect();
    Some(Advice {
        path: Some(by.clone()),
        figures: doc! {
            "documents": number(all),
            "with_one": number(lengths.count(1)),
            "copies": number(copied.len() as u64),
        },
        message: format!(
            "each of {all} `{source}` that `{by}` refers to belongs to one document alone, which holds copies of its fields as well"
        ),
        remedy: format!(
            "embed `{source}` as a field of `{}`, in place of the reference `{by}` and its copies",
            subject.model.name
        ),
        ..subject.advice(AdviceCode::StoredApart)
    })
}
