//! What differs, shrunk, printed once, and kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use odm::bson::{Bson, Document, doc};

use crate::cases::{Case, Order};
use crate::compare::{Kind, bare, normal};
use crate::json::json;
use crate::run::{Difference, Stores};
use crate::shrink;

/// Differences of one area that look alike before they are shrunk, and are shrunk all the same. Other documents have
/// no message to look alike in.
const ALIKE: usize = 2;
const ALIKE_ANSWERS: usize = 25;

/// What all jobs found.
#[derive(Debug, Default)]
pub(crate) struct Report(Mutex<Found>);

#[derive(Debug, Default)]
struct Found {
    /// How often each was met that looks alike.
    met: BTreeMap<String, usize>,
    /// What was printed.
    printed: BTreeSet<String>,
    /// How often a difference was one of two refusals that both stores know.
    two_faults: BTreeMap<String, usize>,
    /// The commands of each.
    cases: Vec<Vec<Document>>,
}

impl Report {
    fn found(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self) -> usize {
        self.found().printed.len()
    }

    /// Shrinks a difference and prints it, unless one of its like was printed.
    pub(crate) async fn difference(
        &self,
        stores: &mut Stores,
        case: &Case,
        seed: u64,
        difference: &Difference,
    ) {
        {
            let mut found = self.found();
            let like = format!("{} {}", case.area, looks(difference));
            let met = found.met.entry(like).or_default();
            *met += 1;
            let most = match difference.kind {
                Kind::Answer => ALIKE_ANSWERS,
                _ => ALIKE,
            };
            if *met > most {
                return;
            }
        }
        let small = shrink::shrink(stores, case, difference.at, difference.kind).await;
        let outcome = stores.run(&small).await;
        // What cannot be repeated is shown as it was first seen.
        let last = outcome.differences.last();
        let shown = if last.is_some() { &small } else { case };
        let difference = last.unwrap_or(difference);
        let Some(step) = shown.steps.get(difference.at) else {
            return;
        };
        if has_two_faults(stores, shown, difference).await {
            let mut found = self.found();
            let met = found.two_faults.entry(looks(difference)).or_default();
            *met += 1;
            if *met == 1 {
                show("TwoFaults", shown, seed, difference);
            }
            return;
        }
        let mut words = BTreeSet::new();
        operators(&Bson::Document(step.command.clone()), &mut words);
        let signature = format!("{words:?} {}", looks(difference));
        let commands: Vec<_> = shown.steps[..=difference.at]
            .iter()
            .map(|step| step.command.clone())
            .collect();
        let mut found = self.found();
        if !found.printed.insert(signature) {
            return;
        }
        show(&format!("{:?}", difference.kind), shown, seed, difference);
        found.cases.push(commands);
    }

    /// How many differences were only which of two refusals comes first.
    pub(crate) fn two_faults(&self) -> usize {
        self.found().two_faults.values().sum()
    }

    /// Adds the cases to a file of `tests/cases/command`, each in a database of its own. Their replies are recorded
    /// by `record_commands.py`.
    pub(crate) fn keep(&self, path: &str) -> io::Result<()> {
        let before = fs::read_to_string(path).unwrap_or_default();
        let mut lines: Vec<String> = before
            .lines()
            .filter(|line| line.starts_with('{'))
            .map(|line| line.trim_end_matches(',').to_owned())
            .collect();
        // A name that none of the lines has.
        let first = lines.len();
        for (at, commands) in self.found().cases.iter().enumerate() {
            lines.extend(commands.iter().map(
                |command| json(&doc! { "db": format!("k{}", first + at), "command": command.clone(), "reply": {} }),
            ));
        }
        fs::write(path, format!("[\n{}\n]\n", lines.join(",\n")))
    }
}

/// Prints a difference as one line of JSON.
fn show(kind: &str, case: &Case, seed: u64, difference: &Difference) {
    let steps = case.steps.get(..=difference.at).unwrap_or_default();
    let order = steps.last().map_or(Order::Exact, |step| step.order);
    let commands: Vec<_> = steps.iter().map(|step| step.command.clone()).collect();
    println!(
        "{}",
        json(&doc! {
            "kind": kind,
            "area": case.area,
            "seed": seed.to_string(),
            "commands": commands,
            "server": normal(&difference.server, order),
            "memory": normal(&difference.memory, order),
        })
    );
}

/// Whether the command is wrong in two ways, each of which both stores refuse alike where it is alone; or in one that
/// only one of them comes to, because the other has excluded the document.
async fn has_two_faults(stores: &mut Stores, case: &Case, difference: &Difference) -> bool {
    let wanted: Vec<_> = [&difference.memory, &difference.server]
        .into_iter()
        .filter_map(fault)
        .collect();
    let enough = match difference.kind {
        Kind::Code | Kind::Message => 2,
        Kind::Refusal => 1,
        Kind::Answer | Kind::Panic => return false,
    };
    if wanted.len() != enough || enough == 2 && wanted.first() == wanted.get(1) {
        return false;
    }
    let mut seen = BTreeSet::new();
    // What is wrong in a part of the case is often two steps away.
    let mut near = Vec::new();
    for candidate in shrink::candidates(case).into_iter().chain(shorter(case)) {
        // Of a case that is shorter, the command in question must still be the last.
        let commands = [&candidate, case].map(|case| case.steps.last().map(|step| &step.command));
        if candidate.steps.len() > difference.at || commands[0] == commands[1] {
            near.push(candidate);
        }
    }
    let further: Vec<_> = near
        .iter()
        .take(40)
        .flat_map(shrink::candidates)
        .filter(|candidate| candidate.steps.len() > difference.at)
        .take(600)
        .collect();
    for candidate in near.into_iter().chain(further) {
        let Some([memory, server]) = stores.last(&candidate).await else {
            continue;
        };
        if let (Some(here), Some(there)) = (fault(&memory), fault(&server))
            && here == there
        {
            seen.insert(here);
            if wanted.iter().all(|fault| seen.contains(fault)) {
                return true;
            }
        }
    }
    false
}

/// The case without one field of its last command.
fn shorter(case: &Case) -> Vec<Case> {
    let Some(last) = case.steps.last() else {
        return Vec::new();
    };
    let fields = last.command.keys().skip(1);
    fields
        .map(|field| {
            let mut shorter = case.clone();
            if let Some(last) = shorter.steps.last_mut() {
                last.command.remove(field);
            }
            shorter
        })
        .collect()
}

/// The first error of a reply: its code and its message.
fn fault(reply: &Document) -> Option<(i32, String)> {
    let error = match reply.get_array("writeErrors") {
        Ok(errors) => errors.first()?.as_document()?,
        Err(_) => reply,
    };
    let message = error.get_str("errmsg").ok()?;
    // Where it happened is said in front of what happened.
    let message = message.rsplit(" :: caused by :: ").next()?;
    Some((error.get_i32("code").ok()?, bare(message)))
}

/// What a difference has in common with its like.
fn looks(difference: &Difference) -> String {
    let error = |reply: &Document| {
        let error = match reply.get_array("writeErrors") {
            Ok(errors) => errors.first().and_then(Bson::as_document).cloned(),
            Err(_) => Some(reply.clone()),
        };
        error.map_or(String::new(), |error| {
            let message = error.get_str("errmsg").unwrap_or("");
            let words: Vec<_> = message
                .split_whitespace()
                .filter(|word| word.chars().all(|char| char.is_ascii_lowercase()))
                .take(12)
                .collect();
            format!("{:?} {}", error.get("code"), words.join(" "))
        })
    };
    format!(
        "{:?} {} / {}",
        difference.kind,
        error(&difference.memory),
        error(&difference.server)
    )
}

/// The operators that a command uses.
fn operators(value: &Bson, out: &mut BTreeSet<String>) {
    match value {
        Bson::Document(document) => {
            for (key, value) in document {
                if key.starts_with('$') {
                    out.insert(key.clone());
                }
                operators(value, out);
            }
        }
        Bson::Array(values) => values.iter().for_each(|value| operators(value, out)),
        _ => {}
    }
}
