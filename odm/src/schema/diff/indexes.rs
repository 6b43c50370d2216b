//! The steps for the indexes of an existing collection.
//!
//! A collection can have only one index of a name, and only one of the same keys and options, whatever its
//! name. So an existing index can block a declared one. One step drops all indexes that block a group of
//! declared ones and builds the group; if the build fails, it puts the old indexes back.

use bson::{Bson, Document, doc};

use super::{Existing, Target, name_of};
use crate::plan::{Action, Step, describe, shell};
use crate::schema::indexes::{Declared, MAX_INDEXES, i64_to_bson};
use crate::schema::normal::NormalIndex;

/// One way to find the existing index for a declaration.
struct Way {
    /// Only for declarations without a name: the index may have any name, except one that another declaration
    /// needs.
    any_name: bool,
    fits: fn(&NormalIndex, &NormalIndex) -> bool,
}

/// Indexes that already do what is declared come first, then indexes of the same name. Equivalent indexes
/// come last, because they may be meant for another declaration.
const WAYS: [Way; 4] = [
    Way {
        any_name: false,
        fits: |is, wanted| is.name == wanted.name && is.fixed_differences(wanted).is_empty(),
    },
    Way {
        any_name: true,
        fits: |is, wanted| is.fixed_differences(wanted).is_empty(),
    },
    Way {
        any_name: false,
        fits: |is, wanted| is.name == wanted.name,
    },
    Way {
        any_name: false,
        fits: NormalIndex::is_equivalent,
    },
];

/// An existing index.
#[derive(Debug)]
struct There<'a> {
    spec: &'a Document,
    normal: NormalIndex,
}

impl There<'_> {
    /// Whether MongoDB refuses `wanted` while this index exists.
    fn blocks(&self, wanted: &NormalIndex) -> bool {
        self.normal.name == wanted.name || self.normal.is_equivalent(wanted)
    }
}

/// An index to build, in place of `old` if there is one.
#[derive(Debug)]
struct Build<'a> {
    declared: &'a Declared,
    wanted: NormalIndex,
    old: Option<There<'a>>,
    reasons: Vec<String>,
}

impl Build<'_> {
    /// Whether one step must build both: the old index of one blocks the other, or one undeclared index
    /// blocks both.
    fn is_tied_to(&self, other: &Self, undeclared: &[There<'_>]) -> bool {
        let waits = |one: &Self, for_one: &Self| {
            let old = for_one.old.as_ref();
            old.is_some_and(|old| old.blocks(&one.wanted))
        };
        waits(self, other)
            || waits(other, self)
            || undeclared
                .iter()
                .any(|there| there.blocks(&self.wanted) && there.blocks(&other.wanted))
    }
}

impl Target {
    /// The steps for the indexes: changes and rebuilds, then new indexes, then drops of undeclared ones. The
    /// drops come before the new indexes if the collection has no room for both.
    pub(super) fn index(&self, existing: &Existing) -> Vec<Step> {
        // An index inherits the collation that the collection has, declared or not.
        let default = existing.options.get_document("collation").ok();
        let listed = existing.indexes.iter();
        let mut there = listed
            .filter(|spec| name_of(spec) != "_id_")
            .map(|spec| There {
                spec,
                normal: NormalIndex::read(spec, None),
            })
            .collect::<Vec<_>>();
        let wanted = self
            .indexes
            .iter()
            .map(|declared| NormalIndex::read(&declared.spec, default))
            .collect::<Vec<_>>();
        let found = self.pair(&wanted, &mut there);

        let mut changes = Vec::new();
        let mut builds = Vec::new();
        for ((declared, wanted), found) in self.indexes.iter().zip(wanted).zip(found) {
            let reasons = found.as_ref().map(|is| differences(is, &wanted, declared));
            match found {
                Some(is) if reasons.as_ref().is_some_and(Vec::is_empty) => {
                    changes.extend(self.change_index(&is.normal, &wanted));
                }
                old => builds.push(Build {
                    declared,
                    wanted,
                    old,
                    reasons: reasons.unwrap_or_default(),
                }),
            }
        }
        let mut steps = Vec::new();
        let mut new = Vec::new();
        for group in groups(builds, &there) {
            if let [
                Build {
                    declared,
                    old: None,
                    ..
                },
            ] = group.as_slice()
            {
                new.push(&declared.spec);
                continue;
            }
            let blocks = |there: &There<'_>| group.iter().any(|build| there.blocks(&build.wanted));
            let (blocking, rest): (Vec<_>, _) = there.into_iter().partition(blocks);
            there = rest;
            steps.push(self.rebuild(&group, &blocking, default.is_some()));
        }
        let is_full = existing.indexes.len() + new.len() > MAX_INDEXES;
        let new = self.create_indexes(new);
        let undeclared = there
            .iter()
            .map(|index| self.drop_undeclared(&index.normal));
        changes.extend(steps);
        if is_full {
            changes.extend(undeclared);
            changes.extend(new);
        } else {
            changes.extend(new);
            changes.extend(undeclared);
        }
        changes
    }

    /// Pairs each declared index with its existing one, which is removed from `there`.
    fn pair<'a>(
        &self,
        wanted: &[NormalIndex],
        there: &mut Vec<There<'a>>,
    ) -> Vec<Option<There<'a>>> {
        let mut found: Vec<Option<There<'a>>> = wanted.iter().map(|_| None).collect();
        for Way { any_name, fits } in WAYS {
            for position in 0..wanted.len() {
                let (Some(index), Some(declared)) =
                    (wanted.get(position), self.indexes.get(position))
                else {
                    continue;
                };
                if found.get(position).is_some_and(Option::is_some)
                    || (any_name && declared.is_named)
                {
                    continue;
                }
                let is_free = |name: &str| {
                    let mut others = wanted.iter().zip(&found);
                    !any_name || !others.any(|(other, found)| found.is_none() && other.name == name)
                };
                let fitting = |is: &There<'_>| fits(&is.normal, index) && is_free(&is.normal.name);
                let taken = there.iter().position(fitting).map(|at| there.remove(at));
                if let Some(slot) = found.get_mut(position) {
                    *slot = taken;
                }
            }
        }
        found
    }

    /// The step that drops all indexes that block a group, and then builds the group.
    fn rebuild(&self, group: &[Build<'_>], blocking: &[There<'_>], has_default: bool) -> Step {
        let mut reasons = Vec::new();
        let is_one = group.len() == 1 && blocking.is_empty();
        for build in group {
            match &build.old {
                Some(_) if is_one => reasons.extend(build.reasons.iter().cloned()),
                Some(old) => {
                    let name = &old.normal.name;
                    reasons.extend(build.reasons.iter().map(|why| format!("{name}: {why}")));
                }
                None => reasons.push(format!("new: {}", describe(&build.declared.spec))),
            }
        }
        reasons.extend(blocking.iter().map(|there| {
            format!(
                "{} {} is not declared, and in the way",
                there.normal.name,
                shell::document(&there.normal.key)
            )
        }));
        let olds = group.iter().filter_map(|build| build.old.as_ref());
        let dropped: Vec<_> = olds.chain(blocking).collect();
        let names: Vec<_> = dropped.iter().map(|old| old.normal.name.clone()).collect();
        let old_specs: Vec<_> = dropped
            .iter()
            .map(|old| as_it_is(old.spec, has_default))
            .collect();
        let specs = group.iter().map(|build| &build.declared.spec).collect();
        let commands = vec![self.drop_command(&names), self.create_command(specs)];
        let mut step = self.step(Action::RebuildIndexes { names }, reasons, commands);
        step.undo = vec![self.create_command(old_specs.iter().collect())];
        step
    }

    fn drop_undeclared(&self, index: &NormalIndex) -> Step {
        let reason = format!("{} is not declared", shell::document(&index.key));
        let name = index.name.clone();
        let command = self.drop_command(std::slice::from_ref(&name));
        self.step(Action::DropIndex { name }, vec![reason], vec![command])
    }

    fn drop_command(&self, names: &[String]) -> Document {
        let index = match names {
            [name] => Bson::String(name.clone()),
            names => Bson::from(names.to_vec()),
        };
        doc! {"dropIndexes": &self.collection, "index": index}
    }

    /// The step for the differences that `collMod` can change.
    fn change_index(&self, is: &NormalIndex, wanted: &NormalIndex) -> Option<Step> {
        let name = is.name.clone();
        let mut reasons = Vec::new();
        let mut change = doc! {"name": &name};
        if is.hidden != wanted.hidden {
            reasons.push(format!(
                "hidden is {}, declared {}",
                is.hidden, wanted.hidden
            ));
            change.insert("hidden", wanted.hidden);
        }
        if let Some(seconds) = wanted.expire_after_seconds
            && is.expire_after_seconds != Some(seconds)
        {
            let now = is.expire_after_seconds;
            let now = now.map_or("none".to_owned(), |seconds| seconds.to_string());
            reasons.push(format!("expireAfterSeconds is {now}, declared {seconds}"));
            change.insert("expireAfterSeconds", i64_to_bson(seconds));
        }
        let command = |index: Document| doc! {"collMod": &self.collection, "index": index};
        let mut commands = Vec::new();
        if !reasons.is_empty() {
            commands.push(command(change));
        }
        let mut undo = Vec::new();
        if is.unique != wanted.unique {
            reasons.push("unique is false, declared true".to_owned());
            // `prepareUnique` refuses new duplicates, so that the second command sees all there are.
            commands.push(command(doc! {"name": &name, "prepareUnique": true}));
            commands.push(command(doc! {"name": &name, "unique": true}));
            undo.push(command(doc! {"name": &name, "prepareUnique": false}));
        }
        if reasons.is_empty() {
            return None;
        }
        let mut step = self.step(Action::ChangeIndex { name }, reasons, commands);
        step.undo = undo;
        Some(step)
    }
}

/// The differences that can't be changed in place.
fn differences(is: &There<'_>, wanted: &NormalIndex, declared: &Declared) -> Vec<String> {
    let mut reasons = if is.normal.only_becomes_unique(wanted) {
        Vec::new()
    } else {
        is.normal.fixed_differences(wanted)
    };
    if declared.is_named && is.normal.name != wanted.name {
        reasons.push(format!(
            "name is {}, declared {}",
            is.normal.name, wanted.name
        ));
    }
    reasons
}

/// Groups the indexes that one step has to build.
fn groups<'a>(builds: Vec<Build<'a>>, undeclared: &[There<'_>]) -> Vec<Vec<Build<'a>>> {
    let mut groups: Vec<Vec<Build<'a>>> = Vec::new();
    for build in builds {
        let is_tied = |group: &Vec<Build<'_>>| {
            let mut members = group.iter();
            members.any(|member| member.is_tied_to(&build, undeclared))
        };
        let (tied, free): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_tied);
        groups = free;
        let mut group: Vec<_> = tied.into_iter().flatten().collect();
        group.push(build);
        groups.push(group);
    }
    groups
}

/// The specification that builds the listed index again.
fn as_it_is(spec: &Document, has_default: bool) -> Document {
    let mut spec = spec.clone();
    if has_default && !spec.contains_key("collation") {
        // Without a collation, the index would inherit the collection's.
        spec.insert("collation", doc! {"locale": "simple"});
    }
    spec
}
