//! Names of databases and collections, and MongoDB's checks of them.

use std::fmt;
use std::sync::Arc;

use odm_language::error::{Code, ServerError};

use crate::pipeline::outline::Place;

/// A collection's full name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace {
    pub database: Arc<str>,
    pub collection: Arc<str>,
}

/// The longest full name, in bytes.
const LONGEST: usize = 255;

impl Namespace {
    /// The collection that the profiler writes.
    pub(crate) const PROFILE: &str = "system.profile";

    pub fn new(database: &str, collection: &str) -> Self {
        Self {
            database: database.into(),
            collection: collection.into(),
        }
    }

    /// Whether the namespace has this database and collection.
    pub fn is(&self, database: &str, collection: &str) -> bool {
        *self.collection == *collection && *self.database == *database
    }

    /// The parts of `database.collection`.
    pub(crate) fn split(full: &str) -> Option<Self> {
        let (database, collection) = full.split_once('.')?;
        (!database.is_empty() && !collection.is_empty()).then(|| Self::new(database, collection))
    }

    /// Refuses a database name that MongoDB would refuse.
    pub(crate) fn check_database(name: &str) -> Result<(), ServerError> {
        let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if (1..=63).contains(&name.len()) && name.bytes().all(is_usual) {
            return Ok(());
        }
        if name.contains('\0') {
            return Err(embedded_null());
        }
        if name.contains('.') {
            return Err(invalid(format!(
                "'.' is an invalid character in the database name: {name}"
            )));
        }
        let bad = |c: char| matches!(c, '/' | '\\' | ' ' | '"' | '$');
        if name.is_empty() || name.len() > 63 || name.contains(bad) {
            return Err(invalid(format!("Invalid database name: '{name}'")));
        }
        Ok(())
    }

    /// The check of any command that names a collection.
    pub(crate) fn check(&self) -> Result<(), ServerError> {
        Self::check_database(&self.database)?;
        if self.collection.contains('\0') {
            return Err(embedded_null());
        }
        if self.collection.is_empty() {
            return Err(invalid(format!("Invalid namespace specified '{self}'")));
        }
        if &*self.database == "local" && self.collection.starts_with("oplog.") {
            return Err(ServerError::new(
                Code::COMMAND_NOT_SUPPORTED,
                format!(
                    "the in-memory engine does not support {self}: change streams list what is written"
                ),
            ));
        }
        if self.collection.starts_with('.') {
            return Err(invalid(format!(
                "Collection names cannot start with '.': {}",
                self.collection
            )));
        }
        Ok(())
    }

    /// Where a pipeline over this collection runs.
    pub(crate) fn place(&self) -> Place<'_> {
        Place {
            database: &self.database,
            is_name: |database, collection| Self::new(database, collection).check().is_ok(),
        }
    }

    /// The check of a command that reads: refuses `$` in the name.
    pub(crate) fn check_read(&self) -> Result<(), ServerError> {
        self.check()?;
        if self.collection.contains('$') {
            return Err(invalid(format!(
                "Invalid collection name specified '{self}"
            )));
        }
        Ok(())
    }

    /// The check before a collection is created, by name or by its first document.
    pub fn check_create(&self) -> Result<(), ServerError> {
        self.check()?;
        self.check_name()
    }

    /// The check of the name of a new collection.
    pub(crate) fn check_name(&self) -> Result<(), ServerError> {
        let name = &*self.collection;
        if name.contains('$') || name.starts_with('.') {
            return Err(invalid(format!("Invalid collection name: {name}")));
        }
        if self.is_system() && !self.is_known_system() {
            return Err(invalid(format!("Invalid system namespace: {self}")));
        }
        let length = self.database.len() + 1 + name.len();
        if length > LONGEST {
            return Err(invalid(format!(
                "Fully qualified namespace is too long. Namespace: {self} Max: {LONGEST}"
            )));
        }
        Ok(())
    }

    /// The check of a command that writes documents. Only the engine writes some system collections.
    pub(crate) fn check_write(&self) -> Result<(), ServerError> {
        self.check_name()?;
        if matches!(&*self.collection, "system.views" | Self::PROFILE) {
            return Err(invalid(format!("cannot write to {self}")));
        }
        Ok(())
    }

    pub(crate) fn is_system(&self) -> bool {
        self.collection.starts_with("system.")
    }

    fn is_known_system(&self) -> bool {
        match &*self.collection {
            "system.views" | "system.js" | Self::PROFILE | "system.users" => true,
            "system.roles" | "system.version" => &*self.database == "admin",
            name => name
                .strip_prefix("system.buckets.")
                .is_some_and(|rest| !rest.is_empty()),
        }
    }

    /// Whether this is one of MongoDB's internal databases.
    pub(crate) fn is_internal(&self) -> bool {
        matches!(&*self.database, "admin" | "local" | "config")
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.database, self.collection)
    }
}

fn embedded_null() -> ServerError {
    invalid("namespaces cannot have embedded null characters".to_owned())
}

fn invalid(message: String) -> ServerError {
    ServerError::new(Code::INVALID_NAMESPACE, message)
}
