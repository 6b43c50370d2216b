//! The section of the drift: the steps of a plan.

use super::pieces::made;
use super::text;
use crate::markup::Markup;
use crate::plan::Step;
use crate::report::DatabaseReport;

pub(super) fn write(section: &mut Markup, report: &DatabaseReport) {
    let Some(plan) = made(section, "The plan", &report.plan) else {
        return;
    };
    if plan.is_empty() {
        section
            .element("p")
            .text("The collections, validators and indexes are as the models declare them.");
        return;
    }
    section.element("p").class("note").with(|p| {
        p.text("These steps would bring the database in line. ");
        p.element("code").text("db.sync(models![…]).plan()");
        p.text(" makes the same plan, and applies the steps that you allow.");
    });
    section.element("ol").class("cards").with(|list| {
        for step in plan.steps() {
            list.element("li").with(|item| write_step(item, step));
        }
    });
}

fn write_step(item: &mut Markup, step: &Step) {
    let shown = step.to_string();
    let title = shown.lines().next().unwrap_or_default();
    item.element("h3").with(|heading| {
        heading.element("code").text(&step.collection);
        heading.text(format_args!(" {title}"));
    });
    item.element("p")
        .class("note")
        .text(format_args!("Model {}", step.model));
    if !step.reasons.is_empty() {
        item.element("ul").with(|list| {
            for reason in &step.reasons {
                list.element("li").with(|item| text::prose(item, reason));
            }
        });
    }
    if !step.commands.is_empty() {
        item.element("details").with(|details| {
            details.element("summary").text("Commands");
            for command in &step.commands {
                details
                    .element("pre")
                    .attr("tabindex", 0)
                    .text(text::command(command));
            }
        });
    }
}
