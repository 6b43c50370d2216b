//! The file, which a test compares.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Change, Impact, Lock, lock};
use crate::error::{Error, FileError, Result};
use crate::model::ModelMeta;

/// The variable by which a developer accepts changes.
const VARIABLE: &str = "ODM_LOCK";

/// Compares the declared shapes of `models` with a lock file. A test calls it, so that each change of what is stored is in the
/// diff that is reviewed.
///
/// A relative path begins at the package that is tested. With the environment variable `ODM_LOCK=write`, the file is written
/// instead, unless a change of it needs a rewrite or loses data under the same version of the schema; `ODM_LOCK=accept` writes it
/// in any case.
///
/// ```
/// # use odm::prelude::*;
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "books")]
/// struct Book {
///     #[serde(rename = "_id")]
///     id: i32,
///     title: String,
/// }
///
/// # let folder = std::env::temp_dir().join(format!("odm-lock-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("odm.lock");
/// # let text = "odm-lock 1\n\ncollection books model Book version 1\n  field _id: int required\n";
/// # std::fs::write(&path, text)?;
/// # // The file of an older program.
/// # let mut error = Ok(());
/// # { let odm_lock = &path;
/// // In a test: `odm::schema::check_lock("odm.lock", models![Book])?;`
/// error = odm::schema::check_lock(odm_lock, models![Book]);
/// # }
/// let message = error.unwrap_err().to_string();
/// assert!(message.contains("needs a rewrite: Book.title: a required field is added"));
/// assert!(message.contains("ODM_LOCK"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The changes, and how to accept them; a file that does not exist, can't be read, or has a line that is not one of a lock file,
/// with its number; the errors of [`lock`].
pub fn check_lock(
    path: impl AsRef<Path>,
    models: impl IntoIterator<Item = &'static ModelMeta>,
) -> Result<()> {
    let mode = match std::env::var(VARIABLE).as_deref() {
        Err(_) | Ok("") => Mode::Compare,
        Ok("write") => Mode::Write,
        Ok("accept") => Mode::Accept,
        Ok(other) => {
            return Err(Error::usage(format!(
                "{VARIABLE}={other}: it is `write`, which writes changes that need no migration, or `accept`, which writes all"
            )));
        }
    };
    check(&located(path.as_ref()), &lock(models)?, mode)
}

/// What is done about changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Compare,
    Write,
    Accept,
}

/// The path, in the package that cargo tests.
fn located(path: &Path) -> PathBuf {
    match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(package) => Path::new(&package).join(path),
        None => path.to_owned(),
    }
}

pub(super) fn check(path: &Path, new: &Lock, mode: Mode) -> Result<()> {
    let failure = |message: String| Error::new(FileError::new(path, message));
    let stored = match std::fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(Error::new(FileError::io(path, "read", error))),
    };
    let text = new.to_string();
    let old = match (&stored, mode) {
        (_, Mode::Accept) | (None, Mode::Write) => return write(path, stored.as_deref(), &text),
        (None, Mode::Compare) => {
            return Err(failure(format!(
                "there is no lock file yet: make it with `{VARIABLE}=write cargo test`, and commit it"
            )));
        }
        (Some(stored), _) => super::text::parse(stored).map_err(failure)?,
    };
    let changes = Lock::compare(&old, new);
    let unversioned = changes.iter().any(is_unversioned);
    if changes.is_empty() || (mode == Mode::Write && !unversioned) {
        return match mode {
            Mode::Write => write(path, stored.as_deref(), &text),
            _ => Ok(()),
        };
    }
    Err(failure(message(&changes, unversioned)))
}

/// Whether stored documents need a migration, and no higher version says which.
fn is_unversioned(change: &Change) -> bool {
    change.impact > Impact::Compatible && !change.is_versioned
}

fn message(changes: &[Change], unversioned: bool) -> String {
    let mut text = "the declared shapes of the models have changed:".to_owned();
    for change in changes {
        // Writing to a string does not fail.
        let _ = write!(text, "\n  {change}");
    }
    text.push_str(if unversioned {
        "\nThe version of a schema stays the same, although stored documents need a migration. Undo the change, or write the steps that \
         are named and migrate, and then accept it with `ODM_LOCK=accept cargo test`; commit the file with the change."
    } else {
        "\nAccept them with `ODM_LOCK=write cargo test`, and commit the file with the change."
    });
    text
}

/// Writes the file, if it has another text.
fn write(path: &Path, stored: Option<&str>, text: &str) -> Result<()> {
    if stored.is_some_and(|stored| stored.replace("\r\n", "\n") == text) {
        return Ok(());
    }
    // Renamed into place when it is whole: another test of the program may read it now.
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}", std::process::id()));
    let written = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|error| Error::new(FileError::io(path, "written", error)))
}
