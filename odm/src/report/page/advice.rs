//! The section of the advice.

use super::pieces::{code_cell, made, number, table};
use super::text;
use crate::advise::{Advice, AdviceReport};
use crate::markup::Markup;
use crate::plan::shell;
use crate::report::DatabaseReport;

pub(super) fn write(section: &mut Markup, report: &DatabaseReport) {
    let Some(advice) = made(section, "The advice", &report.advice) else {
        return;
    };
    if advice.is_empty() {
        section
            .element("p")
            .text("The sampled documents suggest no change.");
    } else {
        section.element("ul").class("cards").with(|list| {
            for one in &advice.advice {
                list.element("li").with(|item| write_advice(item, one));
            }
        });
    }
    write_sampled(section, advice);
}

fn write_advice(item: &mut Markup, advice: &Advice) {
    item.element("h3").with(|heading| {
        heading.element("code").text(advice.code);
        let place = [advice.model, advice.path.as_deref()];
        for name in place.into_iter().flatten() {
            heading.text(" ");
            heading.element("code").text(name);
        }
    });
    item.element("p").with(|p| text::prose(p, &advice.message));
    item.element("p").with(|p| {
        p.element("strong").text("To do: ");
        text::prose(p, &advice.remedy);
    });
    item.element("dl").class("figures").with(|list| {
        let places = [
            ("collection", advice.collection.as_deref()),
            ("index", advice.index.as_deref()),
        ];
        for (name, value) in places {
            if let Some(value) = value {
                write_figure(list, name, value);
            }
        }
        for (name, value) in &advice.figures {
            write_figure(list, name, &shell::value(value));
        }
    });
}

fn write_figure(list: &mut Markup, name: &str, value: &str) {
    list.element("div").with(|pair| {
        pair.element("dt").text(name);
        pair.element("dd").text(value);
    });
}

fn write_sampled(section: &mut Markup, advice: &AdviceReport) {
    section.element("h3").text("Documents sampled");
    let headings = ["Model", "Collection", "Sampled", "Stored"];
    table(
        section,
        "Sampled documents",
        &headings,
        &advice.sampled,
        |row, one| {
            code_cell(row, one.model);
            code_cell(row, &one.collection);
            number(row, one.documents);
            number(row, one.of);
        },
    );
    if advice.not_examined.is_empty() {
        return;
    }
    section.element("h3").text("Not examined");
    section.element("ul").with(|list| {
        for sentence in &advice.not_examined {
            list.element("li").with(|item| text::prose(item, sentence));
        }
    });
}
