//! The top of the page: the answers, each with a link to its section.

use std::collections::BTreeMap;

use super::pieces::link;
use crate::advise::AdviceReport;
use crate::check::CheckReport;
use crate::markup::Markup;
use crate::plan::{Plan, documents};
use crate::report::{DatabaseReport, DesignOutcome, Part};

/// What an answer means to a reader in a hurry.
#[derive(Debug, Clone, Copy)]
enum Verdict {
    Good,
    Bad,
    /// Something to read, or not known.
    Open,
}

struct Answer {
    section: &'static str,
    question: &'static str,
    verdict: Verdict,
    text: String,
    /// Numbers by what they count.
    counts: Vec<(String, u64)>,
}

/// Writes what the report is about.
pub(super) fn write_facts(header: &mut Markup, report: &DatabaseReport) {
    let server = match &report.server {
        Part::Made(version) => version.clone(),
        Part::Failed(sentence) => format!("not known: {sentence}"),
        Part::LeftOut => "not known".to_owned(),
    };
    let stored: u64 = report
        .models
        .iter()
        .filter_map(|one| one.documents.value())
        .sum();
    let made_at = report.made_at;
    let made_at = made_at
        .try_to_rfc3339_string()
        .unwrap_or_else(|_| made_at.to_string());
    let models = count(report.models.len() as u64, "model", "models");
    let facts = [
        ("Database", report.database.clone()),
        ("Server", server),
        ("Made at", made_at),
        ("Contents", format!("{models}, {}", documents(stored))),
    ];
    header.element("dl").with(|list| {
        for (name, value) in facts {
            list.element("div").with(|pair| {
                pair.element("dt").text(name);
                pair.element("dd").text(value);
            });
        }
    });
}

pub(super) fn write_answers(section: &mut Markup, report: &DatabaseReport) {
    let answers = [
        unless_failed("check", "Is the data sound?", &report.check, of_check),
        unless_failed(
            "drift",
            "Does the database match its models?",
            &report.plan,
            of_plan,
        ),
        of_design(report),
        unless_failed("advice", "Is there advice?", &report.advice, of_advice),
    ];
    section.element("ul").class("answers").with(|list| {
        for answer in &answers {
            write_answer(list, answer);
        }
    });
}

fn write_answer(list: &mut Markup, answer: &Answer) {
    let (class, sign) = match answer.verdict {
        Verdict::Good => ("good", "✓"),
        Verdict::Bad => ("bad", "✗"),
        Verdict::Open => ("open", "!"),
    };
    list.element("li").class(class).with(|item| {
        item.element("p").class("question").with(|p| {
            let sign_element = p.element("span").class("sign").attr("aria-hidden", "true");
            sign_element.text(sign);
            link(p, format_args!("#{}", answer.section), answer.question);
        });
        item.element("p").text(&answer.text);
        if !answer.counts.is_empty() {
            item.element("ul").class("counts").with(|counts| {
                for (name, count) in &answer.counts {
                    counts.element("li").text(format_args!("{count} × {name}"));
                }
            });
        }
    });
}

fn unless_failed<T>(
    section: &'static str,
    question: &'static str,
    part: &Part<T>,
    answer: impl Fn(&T) -> (Verdict, String, Vec<(String, u64)>),
) -> Answer {
    let (verdict, text, counts) = match part {
        Part::Made(value) => answer(value),
        Part::Failed(_) => {
            let text = "Not known: it could not be read.".to_owned();
            (Verdict::Open, text, Vec::new())
        }
        Part::LeftOut => {
            let text = "Not known: it was left out.".to_owned();
            (Verdict::Open, text, Vec::new())
        }
    };
    Answer {
        section,
        question,
        verdict,
        text,
        counts,
    }
}

fn of_check(check: &CheckReport) -> (Verdict, String, Vec<(String, u64)>) {
    let read = documents(check.read());
    if check.findings > 0 {
        let findings = count(check.findings, "finding", "findings");
        let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
        for one in &check.counts {
            *kinds.entry(one.kind.to_string()).or_default() += one.count;
        }
        let answer = format!("No: {findings} in {read}.");
        return (Verdict::Bad, answer, kinds.into_iter().collect());
    }
    if check.is_sound() {
        return (
            Verdict::Good,
            format!("Yes: {read} read, nothing found."),
            Vec::new(),
        );
    }
    let answer = format!("Nothing found in {read}; some things were not checked.");
    (Verdict::Open, answer, Vec::new())
}

fn of_plan(plan: &Plan) -> (Verdict, String, Vec<(String, u64)>) {
    let answer = match plan.steps().len() {
        0 => return (Verdict::Good, "Yes.".to_owned(), Vec::new()),
        steps => count(steps as u64, "step", "steps"),
    };
    let answer = format!("No: {answer} would bring it in line.");
    let mut collections: BTreeMap<String, u64> = BTreeMap::new();
    for step in plan.steps() {
        *collections.entry(step.collection.clone()).or_default() += 1;
    }
    (Verdict::Bad, answer, collections.into_iter().collect())
}

fn of_design(report: &DatabaseReport) -> Answer {
    let (mut refused, mut allowed) = (0, 0);
    for note in &report.design {
        match note.outcome {
            DesignOutcome::Refused => refused += 1,
            DesignOutcome::Allowed => allowed += 1,
        }
    }
    let allowed = match allowed {
        0 => String::new(),
        allowed => format!(
            " {} with a reason.",
            count(allowed, "exception", "exceptions")
        ),
    };
    let (verdict, text) = match refused {
        0 => (Verdict::Good, format!("Yes.{allowed}")),
        refused => {
            let refused = count(refused, "declaration is", "declarations are");
            (Verdict::Bad, format!("No: {refused} refused.{allowed}"))
        }
    };
    Answer {
        section: "design",
        question: "Do the models pass the design checks?",
        verdict,
        text,
        counts: Vec::new(),
    }
}

fn of_advice(report: &AdviceReport) -> (Verdict, String, Vec<(String, u64)>) {
    let mut codes: BTreeMap<String, u64> = BTreeMap::new();
    for advice in &report.advice {
        *codes.entry(advice.code.to_string()).or_default() += 1;
    }
    let (verdict, answer) = match report.advice.len() {
        0 => (Verdict::Good, "No.".to_owned()),
        advice => {
            let pieces = count(advice as u64, "piece", "pieces");
            (
                Verdict::Open,
                format!("Yes: {pieces} for a person to judge."),
            )
        }
    };
    (verdict, answer, codes.into_iter().collect())
}

/// `1 step`, `2 steps`
fn count(number: u64, one: &str, several: &str) -> String {
    let name = if number == 1 { one } else { several };
    format!("{number} {name}")
}
