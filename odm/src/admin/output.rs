//! What the command prints.

use std::fmt;
use std::io::{IsTerminal, Write, stderr, stdout};

use bson::{Document, doc};
use indicatif::{ProgressBar, ProgressStyle};

use crate::error::{Error, Result};
use crate::types::json::text::to_relaxed_text;

/// Where a command prints: text on a terminal, lines of JSON elsewhere.
pub(super) struct Output {
    is_json: bool,
    bar: Option<ProgressBar>,
}

impl Output {
    pub(super) fn new(is_json: bool) -> Self {
        Self {
            is_json: is_json || !stdout().is_terminal(),
            bar: None,
        }
    }

    pub(super) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Prints text, if text is printed.
    pub(super) fn text(&mut self, text: impl fmt::Display) -> Result<()> {
        if self.is_json {
            return Ok(());
        }
        let text = text.to_string();
        self.print(text.trim_end())
    }

    /// Prints a line of JSON, if JSON is printed: an object whose only field says what it is.
    pub(super) fn json(&mut self, name: &str, value: Document) -> Result<()> {
        if !self.is_json {
            return Ok(());
        }
        self.print(&to_relaxed_text(&doc! {name: value}))
    }

    /// Prints a line of JSON whose value is JSON already.
    pub(super) fn json_text(&mut self, name: &str, value: &str) -> Result<()> {
        if !self.is_json {
            return Ok(());
        }
        self.print(&format!("{{\"{name}\":{value}}}"))
    }

    /// Prints what the command is for, such as a diagram.
    pub(super) fn print(&mut self, text: &str) -> Result<()> {
        self.clear();
        // A reader that has read enough closes the pipe.
        writeln!(stdout(), "{text}")
            .map_err(|error| Error::usage(format!("the standard output can't be written: {error}")))
    }

    /// Prints why the command failed.
    pub(super) fn failure(&mut self, error: &Error) {
        self.clear();
        let text = if self.is_json {
            to_relaxed_text(&doc! {"error": {"message": error.to_string()}})
        } else {
            format!("error: {error}")
        };
        // Nobody is left to whom a failure to print could be reported.
        drop(writeln!(stderr(), "{text}"));
    }

    /// Shows how far a command is, on a terminal.
    pub(super) fn progress(&mut self, what: &str, done: u64, of: u64) {
        if self.is_json || !stderr().is_terminal() {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(of);
            let template = "{msg:30} {wide_bar} {human_pos}/{human_len} {eta}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar
        });
        bar.set_message(what.to_owned());
        bar.set_length(of.max(done));
        bar.set_position(done);
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
