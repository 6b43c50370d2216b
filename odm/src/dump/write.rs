//! Writes collections to files.
//!
//! A dump is written to a subfolder of its target folder, and moved into place when it is complete. Until
//! then, an older dump stays as it was.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use bson::doc;
use odm_engine::Root;

use crate::dump::layout::{Entry, Format, Kind, OLDER, PRELUDE, STAGE, entries, unfinished};
use crate::dump::{metadata, name};
use crate::error::{Error, FileError, Result};
use crate::types::json::text as json;

/// The folder inside [`STAGE`] in which a newer dump is written.
const NEWER: &str = "newer";

/// The name of an older dump while it is removed.
const GONE: &str = "gone";

/// Writes all collections of all databases.
pub(super) fn dump(root: &Root, folder: &Path) -> Result<()> {
    let replaced = prepare(folder)?;
    let stage = folder.join(STAGE);
    let written = write_all(root, &stage.join(NEWER)).and_then(|()| swap(folder, &replaced));
    if written.is_ok() || !stage.join(OLDER).exists() {
        // Leftovers do no harm: the next dump removes them.
        let _ = fs::remove_dir_all(&stage);
    }
    written
}

/// Creates the folder, and checks whether a dump may be written to it.
pub(super) fn check(folder: &Path) -> Result<()> {
    prepare(folder)?;
    let stage = folder.join(STAGE);
    fs::remove_dir_all(&stage).map_err(|error| failed(&stage, error))
}

/// Creates the folder and its [`STAGE`]. Returns the entries of an older dump, which will be replaced.
fn prepare(folder: &Path) -> Result<Vec<Entry>> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let stage = folder.join(STAGE);
    if stage.join(OLDER).exists() {
        return Err(unfinished(folder));
    }
    let replaced = entries(folder)?;
    for entry in &replaced {
        check_replaced(folder, entry)?;
    }
    // Left by a dump that was interrupted before it was complete.
    if stage.exists() {
        fs::remove_dir_all(&stage).map_err(|error| failed(&stage, error))?;
    }
    fs::create_dir(&stage).map_err(|error| failed(&stage, error))?;
    Ok(replaced)
}

/// Refuses to replace files that do not belong to a dump.
fn check_replaced(folder: &Path, entry: &Entry) -> Result<()> {
    let refused = |path: &Path| {
        let message = format!(
            "it is not a dump that could be replaced: {} would be lost; dump into another folder",
            path.display()
        );
        Error::new(FileError::new(folder, message))
    };
    if !entry.path.is_dir() {
        return match entry.name.as_str() {
            PRELUDE => Ok(()),
            _ => Err(refused(&entry.path)),
        };
    }
    for file in fs::read_dir(&entry.path).map_err(|error| failed(&entry.path, error))? {
        let file = file.map_err(|error| failed(&entry.path, error))?;
        let name = file.file_name();
        let is_dumped = name.to_str().and_then(Kind::of).is_some_and(|(kind, _)| {
            matches!(kind, Kind::Documents(Format::Bson) | Kind::Metadata) || name == PRELUDE
        });
        if !is_dumped || file.path().is_dir() {
            return Err(refused(&file.path()));
        }
    }
    Ok(())
}

fn write_all(root: &Root, folder: &Path) -> Result<()> {
    make(folder)?;
    for database in root.databases() {
        let folder = folder.join(&**database);
        make(&folder)?;
        for collection in root.database(database) {
            let name = &*collection.namespace.collection;
            // The views' metadata has the same content.
            if name == "system.views" {
                continue;
            }
            let name = name::encode(name);
            let documents = collection.documents();
            write(&folder.join(format!("{name}.bson")), documents)?;
            let text = metadata::of_collection(collection);
            write_text(&folder.join(format!("{name}.metadata.json")), &text)?;
        }
        for view in root.views(database) {
            let name = name::encode(&view.namespace.collection);
            let text = metadata::of_view(view)?;
            write_text(&folder.join(format!("{name}.metadata.json")), &text)?;
        }
    }
    let prelude = doc! {
        "ServerVersion": "6.0.5",
        "ToolVersion": concat!("odm ", env!("CARGO_PKG_VERSION")),
    };
    write_text(&folder.join(PRELUDE), &json::to_text(&prelude))
}

fn make(folder: &Path) -> Result<()> {
    fs::create_dir(folder).map_err(|error| failed(folder, error))
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    write(path, std::iter::once(text.as_bytes()))
}

/// Writes a new file. It fails if the file exists, so that no collection is lost silently where file names
/// ignore case.
fn write<'b>(path: &Path, parts: impl Iterator<Item = &'b [u8]>) -> Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|file| write_to(file, parts))
        .map_err(|error| failed(path, error))
}

fn write_to<'b>(file: File, parts: impl Iterator<Item = &'b [u8]>) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 16, file);
    for part in parts {
        file.write_all(part)?;
    }
    file.into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .sync_all()
}

/// Replaces the older dump with the newer one. If a move fails, the files that were moved are moved back.
fn swap(folder: &Path, replaced: &[Entry]) -> Result<()> {
    let stage = folder.join(STAGE);
    let (older, newer) = (stage.join(OLDER), stage.join(NEWER));
    let mut moves = Vec::new();
    for entry in replaced {
        moves.push((entry.path.clone(), older.join(&entry.name)));
    }
    for entry in entries(&newer)? {
        moves.push((entry.path, folder.join(&entry.name)));
    }
    make(&older)?;
    let moved = move_all(&moves);
    if moved.is_ok() || fs::read_dir(&older).is_ok_and(|mut rest| rest.next().is_none()) {
        // From here on, the dump no longer counts as interrupted.
        fs::rename(&older, stage.join(GONE)).map_err(|error| failed(&older, error))?;
    }
    moved
}

fn move_all(moves: &[(PathBuf, PathBuf)]) -> Result<()> {
    for (at, (from, to)) in moves.iter().enumerate() {
        if let Err(error) = fs::rename(from, to) {
            for (from, to) in moves.iter().take(at).rev() {
                // An older file that can't be moved back keeps `older` from being empty, so later loads and
                // dumps report it.
                let _ = fs::rename(to, from);
            }
            return Err(failed(to, error));
        }
    }
    Ok(())
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::new(FileError::io(path, "written", error))
}
