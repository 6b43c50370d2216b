//! The context of one running command: the engine, the session and the clock.

use std::cell::Cell;
use std::sync::Arc;

use bson::raw::RawDocument;
use bson::{DateTime, Timestamp};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Expression, Globals};
use odm_language::value::collation::Collator;
use odm_language::value::raw;

use crate::catalog::changes::definition;
use crate::catalog::collection::{Collection, Version};
use crate::catalog::namespace::Namespace;
use crate::catalog::options::Options;
use crate::catalog::view::View;
use crate::catalog::{Edit, Root};
use crate::command::args::Args;
use crate::command::profiler::Watch;
use crate::command::state::Engine;
use crate::context::Context;
use crate::cursor::query::Deadline;
use crate::index::Index;
use crate::index::spec::Spec;
use crate::txn::session::{Mode, Statements};
use crate::txn::snapshot::Snapshot;
use crate::txn::transaction::Transaction;
use crate::txn::writer::Writer;

#[derive(Debug)]
pub(crate) struct Invocation<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) context: &'a Context,
    pub(crate) command: &'a RawDocument,
    pub(crate) database: &'a str,
    /// The command's namespace; its collection is empty if the command names none.
    pub(crate) namespace: &'a Namespace,
    pub(crate) args: Args<'a>,
    pub(crate) mode: Mode,
    /// The transaction that the command belongs to.
    pub(crate) transaction: Option<&'a mut Transaction>,
    /// The catalog at the start of the transaction. Set only in the first statement, which sees no later change.
    pub(crate) began: Option<Root>,
    /// The snapshot that the command reads, if it requests one.
    pub(crate) snapshot: Option<Snapshot>,
    /// What a retryable write has done so far.
    pub(crate) statements: Option<&'a mut Statements>,
    /// The place of the first statement among those of the whole command.
    pub(crate) first_statement: usize,
    pub(crate) now: DateTime,
    /// Whether the command reached the lock of a write. If it fails after that, its reply still reports the write
    /// concern.
    pub(crate) locked: &'a Cell<bool>,
    /// Collects what the profiler records; `None` if the command is not profiled.
    pub(crate) profile: Option<&'a Watch>,
}

impl Engine {
    /// Opens a collection for writing, outside of transactions.
    pub(crate) fn write<T>(
        &self,
        namespace: &Namespace,
        bypass_validation: bool,
        write: impl FnOnce(&mut Writer<'_, '_>) -> Result<T, ServerError>,
    ) -> Result<Option<T>, ServerError> {
        self.catalog
            .write(namespace, |draft, locks| {
                let mut writer = Writer {
                    draft,
                    locks,
                    inside: None,
                    changed: false,
                    bypass_validation,
                };
                let result = write(&mut writer);
                (writer.changed && result.is_ok(), result)
            })
            .transpose()
    }
}

impl Invocation<'_> {
    pub(crate) fn namespace(&self) -> Namespace {
        self.namespace.clone()
    }

    /// A part of the command: statements on another namespace, of which the first has this place among all.
    pub(crate) fn within<'b>(
        &'b mut self,
        namespace: &'b Namespace,
        first_statement: usize,
    ) -> Invocation<'b> {
        Invocation {
            engine: self.engine,
            context: self.context,
            command: self.command,
            database: &namespace.database,
            namespace,
            args: Args::none(),
            mode: self.mode.clone(),
            transaction: self.transaction.as_deref_mut(),
            began: self.began.clone(),
            snapshot: None,
            statements: self.statements.as_deref_mut(),
            first_statement,
            now: self.now,
            locked: self.locked,
            profile: None,
        }
    }

    /// The catalog of the transaction or of the snapshot; `None` outside both.
    fn fixed(&self) -> Option<&Root> {
        match (&self.transaction, &self.snapshot) {
            (Some(transaction), _) => Some(transaction.root()),
            (None, snapshot) => snapshot.as_ref().map(|snapshot| &snapshot.root),
        }
    }

    /// Updates the transaction's view of a namespace that it uses for the first time. Fails if the collection was
    /// created since.
    pub(crate) fn follow(&mut self, namespace: &Namespace) -> Result<(), ServerError> {
        match &mut self.transaction {
            Some(transaction) => match &self.began {
                Some(began) => transaction.follow(began, namespace),
                None => transaction.follow(&self.engine.catalog.root(), namespace),
            },
            None => Ok(()),
        }
    }

    /// The cluster time of the snapshot that the command reads, if it requests one.
    pub(crate) fn read_time(&self) -> Option<Timestamp> {
        self.snapshot.as_ref().map(|snapshot| snapshot.time)
    }

    /// The catalog that the command reads.
    pub(crate) fn root(&self) -> Root {
        match self.fixed() {
            Some(root) => root.clone(),
            None => self.engine.catalog.root(),
        }
    }

    pub(crate) fn find_collection(&self, namespace: &Namespace) -> Option<Version> {
        match self.fixed() {
            Some(root) => root.collection(namespace).cloned(),
            None => self.engine.catalog.collection(namespace),
        }
    }

    /// The view of this name.
    pub(crate) fn find_view(&self, namespace: &Namespace) -> Option<Arc<View>> {
        match self.fixed() {
            Some(root) => root.view(namespace).cloned(),
            None => self.engine.catalog.view(namespace),
        }
    }

    /// Refuses a view where only a collection will do.
    pub(crate) fn check_not_view(&self, namespace: &Namespace) -> Result<(), ServerError> {
        match self.find_view(namespace) {
            None => Ok(()),
            Some(_) => Err(ServerError::new(
                Code::COMMAND_NOT_SUPPORTED_ON_VIEW,
                format!("Namespace {namespace} is a view, not a collection"),
            )),
        }
    }

    pub(crate) fn deadline(&self) -> Deadline {
        Deadline::new(self.context, self.now, super::args::max_time(self.command))
            .tallied(self.profile.map(|profile| Arc::clone(&profile.tally)))
    }

    /// Records the name of a plan that the planner did not choose, such as `EOF`, for the profiler.
    pub(crate) fn name_plan(&self, plan: &str) {
        if let Some(profile) = self.profile {
            profile.tally.name_plan(plan);
        }
    }

    /// Runs `look` on a collection, only to read a few of its documents: see [`Catalog::look`].
    ///
    /// [`Catalog::look`]: crate::catalog::Catalog::look
    pub(crate) fn look<T>(
        &self,
        namespace: &Namespace,
        look: impl FnOnce(&Collection) -> T,
    ) -> Option<T> {
        match self.fixed() {
            Some(root) => root.collection(namespace).map(|it| look(it)),
            None => self.engine.catalog.look(namespace, look),
        }
    }

    /// The environment of filters without collation and variables.
    pub(crate) fn simple_globals(&self) -> Globals {
        Globals::new(self.now).with_version(self.context.version())
    }

    /// The environment of filters and expressions: the clock, the collation (the command's, or else the collection's),
    /// and the variables of `let`.
    pub(crate) fn globals(
        &self,
        collation: Option<&RawDocument>,
        variables: Option<&RawDocument>,
        collection: Option<&Collection>,
    ) -> Result<Globals, ServerError> {
        let default = collection.and_then(|collection| collection.options.collation.as_ref());
        self.globals_under(collation, variables, default)
    }

    /// Like [`Self::globals`]; `default` is the collection's collation.
    pub(crate) fn globals_under(
        &self,
        collation: Option<&RawDocument>,
        variables: Option<&RawDocument>,
        default: Option<&Collator>,
    ) -> Result<Globals, ServerError> {
        let collator =
            match collation.filter(|collation| !super::args::is_empty_document(collation)) {
                Some(collation) => Collator::parse(collation, "collation")?,
                None => default.cloned(),
            };
        let mut globals = self
            .simple_globals()
            .with_collator(collator)
            .with_random(self.context.randomness())
            .with_shuffle(self.context.shuffle())
            .with_clock(Arc::clone(&self.engine.catalog.clock));
        for (name, value) in variables.into_iter().flat_map(raw::elements) {
            if matches!(name, "CLUSTER_TIME" | "IS_MR" | "JS_SCOPE" | "NOW") {
                return Err(ServerError::new(
                    Code::location(4_738_901),
                    format!("Attempt to set internal constant: {name}"),
                ));
            }
            check_variable(name).map_err(|error| {
                ServerError::new(
                    error.code(),
                    format!(
                        "Invalid 'let' parameter :: caused by :: {}",
                        error.message()
                    ),
                )
            })?;
            let scope = globals.scope();
            let expression = Expression::parse(value, &scope)?;
            if scope.sees_document() {
                return Err(ServerError::new(
                    Code::location(4_890_500),
                    "Command let Expression tried to access a field, but this is not allowed because Command let Expressions run before the query examines any documents.",
                ));
            }
            // A variable whose value is `$$REMOVE` stays missing.
            let value = expression
                .eval(raw::empty_document(), &globals)?
                .into_owned();
            globals = globals.with_binding(name, value);
        }
        Ok(globals)
    }

    /// Creates a collection, as inserting its first document does, unless it exists.
    pub(crate) fn ensure(&mut self, namespace: &Namespace) -> Result<(), ServerError> {
        self.ensure_logged(namespace, true).map(drop)
    }

    /// Creates an absent collection without a change event, and returns whether it did. Change streams on the target of
    /// `$out` see the rename of a temporary collection instead.
    pub(crate) fn ensure_quietly(&mut self, namespace: &Namespace) -> Result<bool, ServerError> {
        self.ensure_logged(namespace, false)
    }

    fn ensure_logged(&mut self, namespace: &Namespace, logged: bool) -> Result<bool, ServerError> {
        while self.find_collection(namespace).is_none() {
            self.check_not_view(namespace)?;
            namespace.check_create()?;
            if self.create(namespace, Options::none(), logged)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Creates a collection, unless another thread did so first; `logged` records a change event.
    pub(crate) fn create(
        &mut self,
        namespace: &Namespace,
        options: Options,
        logged: bool,
    ) -> Result<bool, ServerError> {
        // The entries of the profiler have no `_id`.
        let indexes = if *namespace.collection == *Namespace::PROFILE {
            Vec::new()
        } else {
            let id = Index::new(Arc::new(Spec::id(options.collation.as_ref())));
            id.spec.uses.begin(self.now);
            vec![id]
        };
        let collection = Collection::new(namespace.clone(), self.uuid(), options, indexes);
        if let Some(transaction) = &mut self.transaction {
            transaction.create(collection);
            return Ok(true);
        }
        let mut root = self.engine.catalog.publish();
        root.check_case(&namespace.database)?;
        if root.collection(namespace).is_some() || root.view(namespace).is_some() {
            return Ok(false);
        }
        if logged {
            self.engine
                .catalog
                .log(&root, || definition::created(&collection, None));
        }
        root.put(collection);
        Ok(true)
    }

    /// A random UUID.
    pub(crate) fn uuid(&self) -> [u8; 16] {
        let bits = (u128::from(self.context.random()) << 64) | u128::from(self.context.random());
        let version = 4_u128 << 76;
        let variant = 2_u128 << 62;
        let bits = bits & !(0xF_u128 << 76) & !(3_u128 << 62);
        (bits | version | variant).to_be_bytes()
    }

    /// Opens a collection for writing, in the transaction or outside; returns `None` if the collection does not exist.
    /// A write conflict, returned as the outer `Err`, undoes all that `write` did.
    pub(crate) fn write<T>(
        &mut self,
        namespace: &Namespace,
        bypass_validation: bool,
        write: impl FnOnce(&mut Writer<'_, '_>) -> Result<T, ServerError>,
    ) -> Result<Option<T>, ServerError> {
        if let Some(transaction) = &mut self.transaction {
            return transaction
                .write(&self.engine.catalog, namespace, bypass_validation, write)?
                .transpose();
        }
        self.engine.write(namespace, bypass_validation, write)
    }

    /// Opens a collection for writing, and creates it if it is absent. Retries if another thread drops it in between.
    pub(crate) fn write_ensured<T>(
        &mut self,
        namespace: &Namespace,
        bypass_validation: bool,
        mut write: impl FnMut(&mut Writer<'_, '_>) -> Result<T, ServerError>,
    ) -> Result<T, ServerError> {
        loop {
            if let Some(written) = self.write(namespace, bypass_validation, &mut write)? {
                return Ok(written);
            }
            self.ensure(namespace)?;
        }
    }

    /// Changes a collection's options or indexes. Uncommitted writes of a transaction block the change.
    pub(crate) fn alter<T>(
        &mut self,
        namespace: &Namespace,
        alter: impl FnOnce(&mut Collection) -> Result<Edit<T>, ServerError>,
    ) -> Result<Option<T>, ServerError> {
        self.engine
            .catalog
            .edit(namespace, |collection, locks| {
                if !locks.is_empty() {
                    return Edit::Unchanged(Err(crate::txn::write_conflict()));
                }
                match alter(collection) {
                    Ok(Edit::Unchanged(value)) => Edit::Unchanged(Ok(value)),
                    Ok(Edit::Publish(value, change)) => {
                        collection.version += 1;
                        Edit::Publish(Ok(value), change)
                    }
                    Ok(Edit::Replace(made, value)) => Edit::Replace(made, Ok(value)),
                    Ok(Edit::Drop(value)) => Edit::Drop(Ok(value)),
                    Err(e) => Edit::Unchanged(Err(e)),
                }
            })
            .transpose()
    }
}

/// Names that `let` may define: they start with a lower-case letter, and hold letters, digits and underscores.
fn check_variable(name: &str) -> Result<(), ServerError> {
    let fault = |message: String| Err(ServerError::new(Code::FAILED_TO_PARSE, message));
    let Some(first) = name.chars().next() else {
        return fault("empty variable names are not allowed".to_owned());
    };
    if first.is_ascii() && !first.is_ascii_lowercase() && name != "CURRENT" {
        return fault(format!(
            "'{name}' starts with an invalid character for a user variable name"
        ));
    }
    if let Some(bad) = name
        .chars()
        .find(|c| c.is_ascii() && !c.is_ascii_alphanumeric() && *c != '_')
    {
        return fault(format!(
            "'{name}' contains an invalid character for a variable name: '{bad}'"
        ));
    }
    Ok(())
}
