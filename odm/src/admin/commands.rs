//! The commands.

use std::fmt::Display;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bson::oid::ObjectId;
use bson::{Bson, Document, doc};

use super::Outcome;
use super::args::{Checked, Command, Drawing, Migrated, Permission, Repaired};
use super::output::Output;
use crate::check::{Aspect, Check, FindingKind};
use crate::collection::Db;
use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::plan::{Plan, Step};
use crate::repair::{RepairReport, RunRepair};
use crate::schema::{self, Diagram, Lock};
use crate::write::resume_propagations;

type Models<'m> = &'m [&'static ModelMeta];

/// Runs a command; only those that need a database have one.
pub(super) async fn run(
    command: &Command,
    db: Option<&Db>,
    models: Models<'_>,
    output: &mut Output,
) -> Result<Outcome> {
    let Some(db) = db else {
        return match command {
            Command::Diagram {
                format,
                output: file,
            } => diagram(models, *format, file.as_deref(), output),
            Command::Lock {
                check,
                output: file,
            } => lock(models, check.as_deref(), file.as_deref(), output),
            _ => budget(models, output),
        };
    };
    match command {
        Command::Plan => plan(db, models, output).await,
        Command::Apply { allow, yes } => apply(db, models, allow, *yes, output).await,
        Command::Check(options) => check(db, models, options, output).await,
        Command::Repair(options) => match options.undo {
            Some(repair) => undo(db, models, repair, options.yes, output).await,
            None => repair(db, models, options, output).await,
        },
        Command::Migrate(options) => migrate(db, models, options, output).await,
        Command::Resume { yes } => resume(db, models, *yes, output).await,
        Command::Scrub {
            rate,
            every,
            once,
            yes,
        } => {
            if *yes {
                scrub(db, models, (*rate, *every, *once), output).await?;
            }
            scrub_status(db, models, output).await
        }
        Command::Advise { sample } => advise(db, models, *sample, output).await,
        Command::Report {
            output: file,
            title,
            full,
        } => {
            report(
                db,
                models,
                (file.as_deref(), title.as_deref(), *full),
                output,
            )
            .await
        }
        Command::Diagram {
            format,
            output: file,
        } => diagram(models, *format, file.as_deref(), output),
        Command::Budget => budget(models, output),
        Command::Lock {
            check,
            output: file,
        } => lock(models, check.as_deref(), file.as_deref(), output),
    }
}

async fn plan(db: &Db, models: Models<'_>, output: &mut Output) -> Result<Outcome> {
    let plan = db.sync(models.iter().copied()).plan().await?;
    show_plan(&plan, output)?;
    output.json("summary", doc! {"steps": count(plan.steps().len())})?;
    Ok(drift(plan.is_empty()))
}

async fn apply(
    db: &Db,
    models: Models<'_>,
    allow: &[Permission],
    yes: bool,
    output: &mut Output,
) -> Result<Outcome> {
    let plan = db.sync(models.iter().copied()).plan().await?;
    show_plan(&plan, output)?;
    if !yes {
        output.text("nothing was changed: pass `--yes`")?;
        output.json(
            "summary",
            doc! {"done": 0_i64, "left": count(plan.steps().len())},
        )?;
        return Ok(drift(plan.is_empty()));
    }
    let applied = plan.apply(Permission::all(allow)).await?;
    output.text(&applied)?;
    let (done, left) = (applied.done().len(), applied.left_undone().len());
    output.json("summary", doc! {"done": count(done), "left": count(left)})?;
    Ok(drift(applied.is_complete()))
}

fn show_plan(plan: &Plan, output: &mut Output) -> Result<()> {
    output.text(plan)?;
    for step in plan.steps() {
        output.json("step", step_in_json(step))?;
    }
    for step in plan.left_out() {
        output.json("left_out", step_in_json(step))?;
    }
    Ok(())
}

fn step_in_json(step: &Step) -> Document {
    let mut json = doc! {
        "model": step.model,
        "collection": &step.collection,
        "step": step.to_string(),
        "reasons": &step.reasons,
        "commands": &step.commands,
    };
    if let Some(allow) = step.requires() {
        json.insert("requires", allow.to_string());
    }
    json
}

async fn check(
    db: &Db,
    models: Models<'_>,
    options: &Checked,
    output: &mut Output,
) -> Result<Outcome> {
    let mut check = db.check(models.iter().copied());
    if !options.only.is_empty() {
        check = check.only(options.only.iter().copied());
    }
    for aspect in &options.without {
        check = check.without(*aspect);
    }
    if let Some(sample) = options.sample {
        check = check.sample(sample);
    }
    if let Some(rate) = options.rate {
        check = check.documents_per_second(rate);
    }
    if let Some(limit) = options.time_limit {
        check = check.time_limit(limit);
    }
    if let Some(token) = options.resume.clone() {
        check = check.resume(token);
    }
    let report = run_check(check, output, true).await?;
    output.text(&report)?;
    let mut summary = doc! {
        "read": number(report.read()),
        "findings": number(report.findings),
        "not_checked": &report.not_checked,
    };
    if let Some(rest) = &report.rest {
        summary.insert("rest", rest.to_string());
    }
    output.json("summary", summary)?;
    Ok(damage(report.findings == 0))
}

/// Runs a check with progress; prints its findings as lines of JSON, if asked.
async fn run_check(
    check: Check<'_>,
    output: &mut Output,
    prints: bool,
) -> Result<crate::check::CheckReport> {
    // Both closures print.
    let shared = Mutex::new((&mut *output, Ok(())));
    let locked = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let check = check
        .on_progress(|now| {
            let what = format!("checking {}", now.model);
            locked().0.progress(&what, now.read, now.estimated);
        })
        .on_finding(|finding| {
            let mut shared = locked();
            if prints && shared.1.is_ok() {
                shared.1 = shared.0.json_text("finding", &finding.to_json());
            }
        });
    let report = check.await;
    let (_, printed) = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    printed?;
    report
}

async fn repair(
    db: &Db,
    models: Models<'_>,
    options: &Repaired,
    output: &mut Output,
) -> Result<Outcome> {
    let prepared = || {
        let mut repair = db.repair(models.iter().copied());
        for (model, path, answer) in &options.answers {
            repair = repair.answer_at(model, path, *answer);
        }
        if !options.only.is_empty() {
            repair = repair.only(options.only.iter().copied());
        }
        if let Some(rate) = options.rate {
            repair = repair.documents_per_second(rate);
        }
        repair
    };
    if let Some(token) = options.resume.clone() {
        let run = prepared().resume(token)?;
        let report = run_repair(run, options, output).await?;
        return show_repair(&report, 0, output);
    }
    let plan = {
        let shared = Mutex::new(&mut *output);
        let locked = || shared.lock().unwrap_or_else(PoisonError::into_inner);
        let repair = prepared().on_progress(|now| {
            let what = format!("checking {}", now.model);
            locked().progress(&what, now.read, now.estimated);
        });
        repair.plan().await?
    };
    output.text(&plan)?;
    for step in plan.steps() {
        let mut json = doc! {
            "model": step.model,
            "kind": step.kind.code(),
            "path": &step.path,
            "findings": number(step.findings),
            "action": step.action.to_string(),
        };
        if let crate::repair::RepairAction::Ask(answers) = &step.action {
            let answers = answers.iter().map(|answer| Bson::from(answer.to_string()));
            json.insert("answers", answers.collect::<Vec<_>>());
        }
        output.json("step", json)?;
    }
    if !options.yes {
        output.text("nothing was changed: pass `--yes`")?;
        output.json(
            "summary",
            doc! {"findings": number(plan.findings()), "repaired": 0_i64},
        )?;
        return Ok(damage(plan.findings() == 0));
    }
    let report = run_repair(plan.run(), options, output).await?;
    let is_left = |step: &&crate::repair::RepairStep| !step.action.writes();
    let left = plan.steps().iter().filter(is_left);
    let left = left.map(|step| step.findings).sum();
    show_repair(&report, left, output)
}

async fn run_repair(
    mut run: RunRepair<'_>,
    options: &Repaired,
    output: &mut Output,
) -> Result<RepairReport> {
    if options.keep_images {
        run = run.keep_images();
    }
    if let Some(limit) = options.time_limit {
        run = run.time_limit(limit);
    }
    run.on_progress(|now| {
        let what = format!("{} of {}, {} repaired", now.phase, now.model, now.repaired);
        output.progress(&what, now.read, 0);
    })
    .await
}

/// Shows what a repair has done, and how many findings the plan has left.
fn show_repair(report: &RepairReport, left: u64, output: &mut Output) -> Result<Outcome> {
    output.text(report)?;
    for failed in &report.not_repaired {
        let json = doc! {
            "model": failed.model,
            "id": failed.id.clone(),
            "error": failed.error.to_string(),
        };
        output.json("not_repaired", json)?;
    }
    let mut summary = doc! {
        "repaired": number(report.repaired()),
        "failed": number(report.failed),
        "left": number(left),
    };
    if let Some(images) = report.images {
        summary.insert("images", images.to_hex());
    }
    if let Some(rest) = &report.rest {
        summary.insert("rest", rest.to_string());
    }
    output.json("summary", summary)?;
    Ok(damage(report.is_complete() && left == 0))
}

async fn migrate(
    db: &Db,
    models: Models<'_>,
    options: &Migrated,
    output: &mut Output,
) -> Result<Outcome> {
    let mut migrate = db.migrate(models.iter().copied());
    if let Some(rate) = options.rate {
        migrate = migrate.documents_per_second(rate);
    }
    if let Some(limit) = options.time_limit {
        migrate = migrate.time_limit(limit);
    }
    let run = if let Some(token) = options.resume.clone() {
        migrate.resume(token)?
    } else {
        let plan = migrate.plan().await?;
        output.text(&plan)?;
        for step in plan.steps() {
            let json = doc! {
                "model": step.model,
                "collection": &step.collection,
                "version": step.version,
                "outdated": number(step.outdated),
                "newer": number(step.newer),
            };
            output.json("step", json)?;
        }
        if !options.yes {
            output.text("nothing was changed: pass `--yes`")?;
            let outdated: u64 = plan.steps().iter().map(|step| step.outdated).sum();
            let summary = doc! {"outdated": number(outdated), "rewritten": 0_i64};
            output.json("summary", summary)?;
            return Ok(drift(plan.is_empty()));
        }
        plan.run()
    };
    let run = run.on_progress(|now| {
        let what = format!("rewriting {}", now.model);
        output.progress(&what, now.rewritten, now.planned);
    });
    let report = run.await?;
    output.text(&report)?;
    for failed in &report.not_migrated {
        let json = doc! {
            "model": failed.model,
            "id": failed.id.clone(),
            "error": failed.error.to_string(),
        };
        output.json("not_migrated", json)?;
    }
    let mut summary = doc! {
        "rewritten": number(report.rewritten()),
        "failed": number(report.failed),
    };
    if let Some(rest) = &report.rest {
        summary.insert("rest", rest.to_string());
    }
    output.json("summary", summary)?;
    Ok(if report.failed > 0 {
        Outcome::Damage
    } else {
        drift(report.is_complete())
    })
}

async fn undo(
    db: &Db,
    models: Models<'_>,
    repair: ObjectId,
    yes: bool,
    output: &mut Output,
) -> Result<Outcome> {
    if !yes {
        output.text("nothing was changed: pass `--yes` to undo the repair")?;
        output.json("summary", doc! {"undone": 0_i64})?;
        return Ok(Outcome::Nothing);
    }
    let result = db.undo_repair(models.iter().copied(), repair).await?;
    output.text(&result)?;
    let summary = doc! {"undone": number(result.undone), "changed": number(result.changed)};
    output.json("summary", summary)?;
    Ok(damage(result.changed == 0))
}

async fn resume(db: &Db, models: Models<'_>, yes: bool, output: &mut Output) -> Result<Outcome> {
    let check = db
        .check(models.iter().copied())
        .only([Aspect::UnfinishedChanges])
        .unfinished_after(Duration::ZERO);
    let report = run_check(check, output, !yes).await?;
    let unfinished = report.counts.iter();
    let unfinished = unfinished.filter(|count| count.kind == FindingKind::UnfinishedChange);
    let pending: u64 = unfinished.map(|count| count.count).sum();
    if !yes {
        output.text(&report)?;
        output.text("nothing was changed: pass `--yes`")?;
        output.json(
            "summary",
            doc! {"pending": number(pending), "completed": 0_i64},
        )?;
        return Ok(damage(pending == 0));
    }
    let mut completed = 0;
    let mut channel = Channel::new(db.store.clone(), None);
    for model in models {
        let resumed = resume_propagations(&mut channel, model).await;
        completed += resumed.map_err(|error| error.with_model(model.name))?;
    }
    output.text(format!("{completed} changes completed"))?;
    output.json(
        "summary",
        doc! {"pending": 0_i64, "completed": number(completed)},
    )?;
    Ok(Outcome::Nothing)
}

async fn scrub(
    db: &Db,
    models: Models<'_>,
    (rate, every, once): (u32, Duration, bool),
    output: &mut Output,
) -> Result<()> {
    let mut printed = Ok(());
    let scrub = db
        .scrub(models.iter().copied())
        .documents_per_second(rate)
        .every(every)
        .on_finding(|finding| {
            if printed.is_ok() {
                let json = output.json_text("finding", &finding.to_json());
                printed = json.and_then(|()| output.text(finding));
            }
        });
    if once {
        scrub.await?;
    } else {
        scrub.until(std::future::pending::<()>()).await?;
    }
    printed
}

async fn scrub_status(db: &Db, models: Models<'_>, output: &mut Output) -> Result<Outcome> {
    let status = db.scrub_status(models.iter().copied()).await?;
    output.text(&status)?;
    let counts = status.findings.iter();
    let counts: Document = counts
        .map(|(code, count)| (code.clone(), number(*count).into()))
        .collect();
    let summary = doc! {
        "age_seconds": status.age().map(|age| number(age.as_secs())),
        "ranges": number(status.ranges),
        "documents": number(status.documents),
        "findings": counts,
    };
    output.json("summary", summary)?;
    Ok(damage(status.findings.values().all(|count| *count == 0)))
}

async fn advise(
    db: &Db,
    models: Models<'_>,
    sample: Option<u64>,
    output: &mut Output,
) -> Result<Outcome> {
    let mut advise = db.advise(models.iter().copied());
    if let Some(sample) = sample {
        advise = advise.sample(sample);
    }
    let report = advise.await?;
    output.text(&report)?;
    if output.is_json() {
        // Advice comes first; the other lines are named already.
        for line in report.to_json_lines().lines().take(report.advice.len()) {
            output.json_text("advice", line)?;
        }
    }
    let summary = doc! {
        "advice": count(report.advice.len()),
        "not_examined": &report.not_examined,
    };
    output.json("summary", summary)?;
    Ok(Outcome::Nothing)
}

async fn report(
    db: &Db,
    models: Models<'_>,
    (file, title, full): (Option<&Path>, Option<&str>, bool),
    output: &mut Output,
) -> Result<Outcome> {
    let mut report = db.report(models.iter().copied());
    if let Some(title) = title {
        report = report.title(title);
    }
    if full {
        report = report.check(|check| check);
    }
    let report = report.await?;
    write_to(file, &report.html(), output)?;
    let found = report.check.value().map_or(0, |check| check.findings);
    let differs = report.plan.value().is_some_and(|plan| !plan.is_empty());
    Ok(damage(found == 0).max(drift(!differs)))
}

fn diagram(
    models: Models<'_>,
    format: Drawing,
    file: Option<&Path>,
    output: &mut Output,
) -> Result<Outcome> {
    let diagram = Diagram::of(models.iter().copied())?;
    let text = match format {
        Drawing::Mermaid => diagram.mermaid(),
        Drawing::Svg => diagram.svg(),
    };
    write_to(file, text.trim_end(), output)?;
    Ok(Outcome::Nothing)
}

/// Writes a text to a file, or prints it.
fn write_to(file: Option<&Path>, text: &str, output: &mut Output) -> Result<()> {
    let Some(file) = file else {
        return output.print(text);
    };
    let written = std::fs::write(file, text);
    written.map_err(|error| Error::usage(format!("{} can't be written: {error}", file.display())))
}

fn lock(
    models: Models<'_>,
    check: Option<&Path>,
    file: Option<&Path>,
    output: &mut Output,
) -> Result<Outcome> {
    let lock = schema::lock(models.iter().copied())?;
    let Some(check) = check else {
        let text = lock.to_string();
        // Whoever prints ends the last line.
        write_to(
            file,
            if file.is_some() {
                &text
            } else {
                text.trim_end()
            },
            output,
        )?;
        return Ok(Outcome::Nothing);
    };
    let unreadable = |error: &dyn Display| Error::usage(format!("{}: {error}", check.display()));
    let text = std::fs::read_to_string(check).map_err(|error| unreadable(&error))?;
    let locked = Lock::parse(&text).map_err(|error| unreadable(&error))?;
    let changes = Lock::compare(&locked, &lock);
    for change in &changes {
        output.text(change)?;
        let mut json = doc! {
            "impact": change.impact.to_string(),
            "model": &change.model,
            "collection": &change.collection,
            "subject": &change.subject,
            "what": &change.what,
            "versioned": change.is_versioned,
        };
        if let Some(step) = &change.step {
            json.insert("step", step);
        }
        output.json("change", json)?;
    }
    output.json("summary", doc! {"changes": count(changes.len())})?;
    Ok(drift(changes.is_empty()))
}

fn budget(models: Models<'_>, output: &mut Output) -> Result<Outcome> {
    let mut all_fit = true;
    for model in models {
        let budget = model.budget.map(|budget| budget.max);
        let worst = model.worst_case();
        let fits = model.check_budget();
        let declared = match budget {
            Some(budget) => format!("of {budget}"),
            None => "no budget".to_owned(),
        };
        let mut json = doc! {"model": model.name, "collection": model.collection};
        if let Some(budget) = budget {
            json.insert("budget", number(budget));
        }
        match &worst {
            Ok(bytes) => {
                json.insert("worst_case", number(*bytes));
                output.text(format!("{}: at most {bytes} bytes, {declared}", model.name))?;
            }
            Err(error) => {
                json.insert("unbounded", error.to_string());
                output.text(format!("{}: any size, {declared}", model.name))?;
            }
        }
        json.insert("fits", fits.is_ok());
        if let Err(error) = &fits {
            all_fit = false;
            json.insert("error", error.to_string());
            output.text(format!("  {error}"))?;
        }
        output.json("budget", json)?;
    }
    output.json("summary", doc! {"fits": all_fit})?;
    Ok(drift(all_fit))
}

fn drift(is_none: bool) -> Outcome {
    if is_none {
        Outcome::Nothing
    } else {
        Outcome::Drift
    }
}

fn damage(is_none: bool) -> Outcome {
    if is_none {
        Outcome::Nothing
    } else {
        Outcome::Damage
    }
}

fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
