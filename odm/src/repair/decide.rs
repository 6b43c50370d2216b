//! Chooses the action on each kind of finding.

use std::collections::{HashMap, HashSet};

use super::answers::{Answer, Answers};
use super::plan::RepairAction;
use crate::check::FindingKind;
use crate::error::{Error, Result};
use crate::exec::declared::{Absent, Declared, ReferenceSite};
use crate::model::{ModelMeta, OnDelete, Segment, name};
use crate::tree::DamageKind;

/// The answers of a repair, and what the models declare.
#[derive(Debug)]
pub(super) struct Decisions {
    answers: Answers,
    models: HashMap<&'static str, Declares>,
}

/// What a model declares about its fields.
#[derive(Debug)]
struct Declares {
    model: &'static ModelMeta,
    declared: Declared,
    /// What becomes of references when their documents are deleted, by their stored paths.
    on_delete: HashMap<String, OnDelete>,
}

impl Decisions {
    pub(super) fn new(models: &[&'static ModelMeta], answers: Answers) -> Result<Self> {
        let mut all = HashMap::new();
        for &model in models {
            let declares = Declares {
                model,
                declared: Declared::of(model)?,
                on_delete: on_delete(models, model)?,
            };
            all.insert(model.name, declares);
        }
        let decisions = Self {
            answers,
            models: all,
        };
        decisions.check_answers()?;
        Ok(decisions)
    }

    /// The action on the findings of a kind at a path.
    pub(super) fn action(
        &self,
        model: &'static ModelMeta,
        kind: FindingKind,
        path: &str,
    ) -> Result<RepairAction> {
        let answer = self.answers.of(model.name, path);
        if answer == Some(Answer::Leave) {
            return Ok(RepairAction::Leave);
        }
        if model.view.is_some() && kind != FindingKind::UnindexedRelation {
            // No write reaches the documents of a view.
            return Ok(RepairAction::ByHand);
        }
        Ok(match kind {
            FindingKind::StaleCopy | FindingKind::StaleSummary | FindingKind::StaleList => {
                RepairAction::Refresh
            }
            FindingKind::WrongKeptValue => RepairAction::Recompute,
            FindingKind::UnfinishedChange => RepairAction::Resume,
            FindingKind::DanglingReference => self.about_reference(model, path, answer),
            FindingKind::OneSidedReference => self.about_sides(model, path, answer)?,
            FindingKind::LongList => match answer {
                Some(Answer::KeepFirst) => RepairAction::KeepFirst,
                Some(Answer::KeepLast) => RepairAction::KeepLast,
                _ => ask([Answer::KeepFirst, Answer::KeepLast]),
            },
            FindingKind::UndeclaredField => match answer {
                Some(Answer::RemoveField) => RepairAction::RemoveField,
                _ => ask([Answer::RemoveField]),
            },
            FindingKind::DamagedTree(_) => RepairAction::RepairTree,
            // Bytes that are gone do not come back, whoever has moved an item knows why, and `db.migrate` runs the steps.
            FindingKind::InvalidDocument
            | FindingKind::MisplacedItem
            | FindingKind::MissingChunk
            | FindingKind::ExtraChunk
            | FindingKind::WrongChunk
            | FindingKind::OrphanedChunks
            | FindingKind::MissingShardKey
            | FindingKind::ArrayInShardKey
            | FindingKind::OutdatedSchema
            | FindingKind::NewerSchema => RepairAction::ByHand,
            FindingKind::UnindexedRelation => RepairAction::CreateIndex,
        })
    }

    /// The action on the trees of a model in which some nodes have no place.
    pub(super) fn about_nodes(&self, model: &'static ModelMeta) -> RepairAction {
        let mut given = self
            .answers
            .iter()
            .filter(|given| given.model == model.name);
        if given.any(|given| given.answer == Answer::BecomeRoot) {
            RepairAction::RepairTree
        } else {
            ask([Answer::BecomeRoot])
        }
    }

    fn about_reference(
        &self,
        model: &'static ModelMeta,
        path: &str,
        answer: Option<Answer>,
    ) -> RepairAction {
        let declares = self.models.get(model.name);
        let declared = declares.and_then(|declares| declares.on_delete.get(path));
        match (answer, declared) {
            (Some(Answer::SetNull), _) | (None, Some(OnDelete::SetNull)) => RepairAction::SetNull,
            (Some(Answer::Pull), _) | (None, Some(OnDelete::Pull)) => RepairAction::Pull,
            (Some(Answer::Delete), _) => RepairAction::Delete,
            _ => {
                let Some(site) = declares.and_then(|declares| declares.site(path)) else {
                    // A DBRef in a field that is not declared goes with the field.
                    return match answer {
                        Some(Answer::RemoveField) => RepairAction::RemoveField,
                        _ => ask([Answer::RemoveField]),
                    };
                };
                let fits = [
                    (Answer::SetNull, site.absent != Absent::Never),
                    (Answer::Pull, site.is_in_list),
                    (Answer::Delete, model.trees.is_empty()),
                ];
                let fits = fits.into_iter().filter(|(_, fits)| *fits);
                ask(fits.map(|(answer, _)| answer))
            }
        }
    }

    /// The action on references of which one side disagrees with the other.
    fn about_sides(
        &self,
        model: &'static ModelMeta,
        path: &str,
        answer: Option<Answer>,
    ) -> Result<RepairAction> {
        let mut all = model.two_way()?.iter();
        let Some(sides) = all.find(|sides| sides.own.path == path) else {
            return Ok(RepairAction::ByHand);
        };
        let other = &sides.other;
        let is_one_field = other.model.collection == model.collection && other.path == path;
        if is_one_field || answer == Some(Answer::Follow) {
            return Ok(RepairAction::Follow {
                model: model.name,
                path: path.to_owned(),
            });
        }
        if self.answers.of(other.model.name, &other.path) == Some(Answer::Follow) {
            return Ok(RepairAction::Follow {
                model: other.model.name,
                path: other.path.clone(),
            });
        }
        Ok(ask([Answer::Follow]))
    }

    /// Whether a reference that becomes null is left out of its document.
    pub(super) fn is_left_out(&self, model: &ModelMeta, path: &str) -> bool {
        let declares = self.models.get(model.name);
        let site = declares.and_then(|declares| declares.site(path));
        site.is_some_and(|site| site.absent == Absent::LeftOut)
    }

    /// Refuses answers that do not fit their fields.
    fn check_answers(&self) -> Result<()> {
        let mut followed = HashSet::new();
        for given in self.answers.iter() {
            let refused = |message: &str| {
                let (model, path, answer) = (&given.model, &given.path, given.answer);
                Err(Error::usage(format!(
                    "the answer `{answer}` for `{model}.{path}`: {message}"
                )))
            };
            let Some(declares) = self.models.get(given.model.as_str()) else {
                return refused("no model of this name is repaired: list it in `models![…]`");
            };
            let site = declares.site(&given.path);
            let message = match given.answer {
                Answer::SetNull | Answer::Pull | Answer::Delete if site.is_none() => {
                    "no reference is declared there"
                }
                Answer::SetNull if site.is_some_and(|site| site.absent == Absent::Never) => {
                    "the reference is not optional: a document without it could not be read"
                }
                Answer::Pull if site.is_some_and(|site| !site.is_in_list) => {
                    "the reference is in no list"
                }
                Answer::Delete if !declares.model.trees.is_empty() => {
                    "the documents are nodes of a tree: delete them by `db.tree::<…>().delete(…)`"
                }
                Answer::BecomeRoot if declares.model.trees.is_empty() => "the model has no tree",
                Answer::Follow => {
                    let mut all = declares.model.two_way()?.iter();
                    let Some(sides) = all.find(|sides| sides.own.path == given.path) else {
                        return refused("no `two_way` reference is declared there");
                    };
                    let other = (sides.other.model.name, sides.other.path.clone());
                    let own = (declares.model.name, given.path.clone());
                    let contradicts = own != other && followed.contains(&other);
                    followed.insert(own);
                    if !contradicts {
                        continue;
                    }
                    "the other side is to follow this one"
                }
                _ => continue,
            };
            return refused(message);
        }
        Ok(())
    }
}

impl Declares {
    fn site(&self, path: &str) -> Option<ReferenceSite> {
        self.declared.reference_at(path)
    }
}

/// Whether a node has no place in a tree, so that its repair has several answers.
pub(super) fn has_no_place(kind: FindingKind) -> bool {
    use DamageKind::{Cycle, MissingAncestor, MixedScopes, Orphan};
    matches!(
        kind,
        FindingKind::DamagedTree(Orphan | Cycle | MissingAncestor | MixedScopes)
    )
}

fn ask(answers: impl IntoIterator<Item = Answer>) -> RepairAction {
    let answers = answers.into_iter().chain([Answer::Leave]);
    RepairAction::Ask(answers.collect())
}

/// What becomes of the references of a model when their documents are deleted, by their stored paths.
fn on_delete(
    models: &[&'static ModelMeta],
    model: &ModelMeta,
) -> Result<HashMap<String, OnDelete>> {
    let mut policies = HashMap::new();
    for other in models {
        for relation in other.dependents() {
            let (target, Some(policy)) = ((relation.target)(), relation.acts_on_delete()) else {
                continue;
            };
            if target.collection != model.collection {
                continue;
            }
            let found = name::resolve((target.embedded)(), relation.by)?;
            let name = |segment| match segment {
                Segment::Name(name) => Some(name.into_owned()),
                _ => None,
            };
            let names: Vec<_> = found.path.segments().filter_map(name).collect();
            policies.insert(names.join("."), policy);
        }
    }
    Ok(policies)
}
