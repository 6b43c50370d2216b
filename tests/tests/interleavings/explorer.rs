//! Runs operations in every order of their commands.
//!
//! A read in a transaction that has begun sees the snapshot of its transaction, whatever other operations do, and they do not see
//! it. An order that leaves an operation after such a read has the effects of the order that leaves it before the read. So the
//! operation goes on, and one order stands for all that differ in this.

use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use futures::future::BoxFuture;
use odm::prelude::*;
use tokio::runtime::{Builder, Runtime};

/// An operation that sends several commands.
#[derive(Clone)]
pub(crate) struct Operation {
    run: Arc<dyn Fn(Db) -> BoxFuture<'static, odm::Result<()>> + Send + Sync>,
    /// The number of its commands after which it is dropped.
    stop: Option<usize>,
    /// Whether it is run again from the start after it was dropped.
    is_repeated: bool,
}

/// An operation; it is an error if it fails.
pub(crate) fn operation<F>(run: impl Fn(Db) -> F + Send + Sync + 'static) -> Operation
where
    F: Future<Output = odm::Result<()>> + Send + 'static,
{
    Operation {
        run: Arc::new(move |db| Box::pin(run(db))),
        stop: None,
        is_repeated: false,
    }
}

impl Operation {
    /// Drops the operation after this many commands, and runs it again.
    pub(crate) fn stopped_after(mut self, commands: usize) -> Self {
        self.stop = Some(commands);
        self.is_repeated = true;
        self
    }

    /// Drops the operation after this many commands.
    pub(crate) fn abandoned_after(mut self, commands: usize) -> Self {
        self.stop = Some(commands);
        self
    }
}

/// The outcome of an exploration.
#[derive(Debug, Default)]
pub(crate) struct Explored {
    pub(crate) orders: usize,
    /// The number of grants in all orders.
    steps: usize,
    /// The number of orders that left damage.
    pub(crate) unsound: usize,
    /// The first such order.
    first: Option<String>,
    /// Whether an operation was stopped.
    pub(crate) stopped: bool,
}

impl Explored {
    pub(crate) fn add(&mut self, other: &Self) {
        self.orders += other.orders;
        self.steps += other.steps;
        self.unsound += other.unsound;
        if self.first.is_none() {
            self.first.clone_from(&other.first);
        }
    }
}

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            orders,
            steps,
            unsound,
            ..
        } = self;
        write!(
            f,
            "{orders} orders of {steps} commands explored, {unsound} with damage"
        )?;
        match &self.first {
            Some(first) => write!(f, "; the first: {first}"),
            None => Ok(()),
        }
    }
}

/// What an operation is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// It waits for its turn.
    Waits,
    /// It pauses, because it met a conflict: it can go on when another operation has ended a transaction.
    Pauses,
    /// It runs a command.
    Runs,
    Ended,
}

struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    doing: Vec<Doing>,
    /// The operation that may run its next command.
    turn: Option<usize>,
    /// The commands that were run, for a message.
    log: Vec<String>,
}

/// Ends a thread in the middle of an operation.
struct Stopped;

impl Gate {
    fn new(operations: usize) -> Self {
        Self {
            state: Mutex::new(State {
                doing: vec![Doing::Runs; operations],
                turn: None,
                log: Vec::new(),
            }),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Waits for the next turn of an operation.
    fn wait(&self, operation: usize, doing: Doing) {
        let mut state = self.state();
        state.doing[operation] = doing;
        self.changed.notify_all();
        while state.turn != Some(operation) {
            state = self.changed.wait(state).unwrap();
        }
        state.turn = None;
        state.doing[operation] = Doing::Runs;
        self.changed.notify_all();
    }

    /// The operation has ended a transaction: the others may go on.
    fn release_others(&self, operation: usize) {
        let mut state = self.state();
        for (other, doing) in state.doing.iter_mut().enumerate() {
            if other != operation && *doing == Doing::Pauses {
                *doing = Doing::Waits;
            }
        }
    }

    fn end(&self, operation: usize) {
        self.release_others(operation);
        self.state().doing[operation] = Doing::Ended;
        self.changed.notify_all();
    }

    /// Waits until no operation runs; returns those that can go on.
    fn ready(&self) -> Vec<usize> {
        let mut state = self.state();
        while state.doing.contains(&Doing::Runs) {
            state = self.changed.wait(state).unwrap();
        }
        if !state.doing.contains(&Doing::Waits) {
            // Each waits for another one.
            for doing in state.doing.iter_mut().filter(|it| **it == Doing::Pauses) {
                *doing = Doing::Waits;
            }
        }
        let all = state.doing.iter().enumerate();
        all.filter(|(_, doing)| **doing == Doing::Waits)
            .map(|(operation, _)| operation)
            .collect()
    }

    fn grant(&self, operation: usize) {
        let mut state = self.state();
        state.turn = Some(operation);
        self.changed.notify_all();
        while state.turn.is_some() {
            state = self.changed.wait(state).unwrap();
        }
    }
}

/// A runtime whose clock advances by itself when everything waits, so that pauses take no time.
fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
}

/// Which orders are explored.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Orders {
    All,
    /// Those that leave an operation that could go on for another one at most this many times, and `ODM_MORE_SWITCHES` times
    /// more.
    Switches(usize),
}

/// How many switches more than bounded are explored.
pub(crate) fn more() -> usize {
    let chosen = std::env::var("ODM_MORE_SWITCHES").unwrap_or_default();
    chosen.parse().unwrap_or(0)
}

/// Explores orders. Each begins with a database that `fill` has filled, and ends with the question whether it is sound.
pub(crate) fn explore(
    fill: fn(Db) -> BoxFuture<'static, ()>,
    operations: &[Operation],
    orders: Orders,
    is_sound: impl Fn(Db) -> BoxFuture<'static, bool>,
) -> Explored {
    let orders = match orders {
        Orders::All => Orders::All,
        Orders::Switches(most) => Orders::Switches(most + more()),
    };
    let mut explored = Explored::default();
    // The choices of the last order: which of how many operations went on.
    let mut choices: Vec<(usize, usize)> = Vec::new();
    loop {
        let db = Db::memory();
        runtime().block_on(fill(db.clone()));
        let (log, stopped) = run(&db, operations, orders, &mut choices);
        explored.orders += 1;
        explored.steps += choices.len();
        explored.stopped |= stopped;
        if !runtime().block_on(is_sound(db)) {
            explored.unsound += 1;
            explored.first.get_or_insert(log.join(", "));
        }
        // The next order differs in the last choice that has another one left.
        while let Some((chosen, of)) = choices.pop() {
            if chosen + 1 < of {
                choices.push((chosen + 1, of));
                break;
            }
        }
        if choices.is_empty() {
            return explored;
        }
    }
}

/// Runs one order: the choices that are given, and the first one after them.
fn run(
    db: &Db,
    operations: &[Operation],
    orders: Orders,
    choices: &mut Vec<(usize, usize)>,
) -> (Vec<String>, bool) {
    let gate = Arc::new(Gate::new(operations.len()));
    let spawned = operations.iter().enumerate().map(|(number, operation)| {
        let (gate, operation, db) = (Arc::clone(&gate), operation.clone(), db.clone());
        thread::spawn(move || perform(&gate, number, &operation, &db))
    });
    let threads: Vec<_> = spawned.collect();
    let (mut current, mut switches) = (None, 0);
    for step in 0.. {
        let mut ready = gate.ready();
        if ready.is_empty() {
            break;
        }
        // To go on with the same operation is the first choice.
        if let Some(place) = ready.iter().position(|one| Some(*one) == current) {
            ready.swap(0, place);
            if matches!(orders, Orders::Switches(most) if switches >= most) {
                ready.truncate(1);
            }
        } else {
            current = None;
        }
        if choices.len() == step {
            choices.push((0, ready.len()));
        }
        let (chosen, of) = choices[step];
        assert_eq!(
            of,
            ready.len(),
            "the order can't be repeated: {:?}",
            gate.state().log
        );
        if chosen > 0 && current.is_some() {
            switches += 1;
        }
        current = Some(ready[chosen]);
        gate.grant(ready[chosen]);
    }
    let stopped: Vec<bool> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    let log = std::mem::take(&mut gate.state().log);
    (log, stopped.contains(&true))
}

/// Runs an operation, held at the gate after each command; returns whether it was stopped.
fn perform(gate: &Arc<Gate>, number: usize, operation: &Operation, db: &Db) -> bool {
    let stop = operation.stop;
    gate.wait(number, Doing::Waits);
    if stop.is_some() {
        if let Ok(result) = attempt(gate, number, operation, db, stop) {
            gate.end(number);
            result.unwrap();
            return false;
        }
        if !operation.is_repeated {
            gate.end(number);
            return true;
        }
        gate.release_others(number);
        gate.wait(number, Doing::Waits);
    }
    let result = attempt(gate, number, operation, db, None);
    gate.end(number);
    if let Ok(result) = result {
        result.unwrap();
    }
    stop.is_some()
}

/// Runs an operation once, until it ends or is stopped.
fn attempt(
    gate: &Arc<Gate>,
    number: usize,
    operation: &Operation,
    db: &Db,
    stop: Option<usize>,
) -> Result<odm::Result<()>, Stopped> {
    let (held, sent) = (Arc::clone(gate), AtomicUsize::new(0));
    let has_snapshot = AtomicBool::new(false);
    let watched = db.on_command(move |event| {
        let name = event.command.keys().next().cloned().unwrap_or_default();
        held.state().log.push(format!("{number}: {name}"));
        let ends = name == "commitTransaction" || name == "abortTransaction";
        if ends {
            held.release_others(number);
        }
        let goes_on = event.in_transaction && !ends && event.outcome.is_ok();
        let is_read = matches!(name.as_str(), "find" | "getMore");
        let is_local = has_snapshot.swap(goes_on, Ordering::Relaxed) && goes_on && is_read;
        let count = sent.fetch_add(1, Ordering::Relaxed) + 1;
        if stop == Some(count) {
            resume_unwind(Box::new(Stopped));
        }
        if !is_local {
            held.wait(number, Doing::Waits);
        }
    });
    let mut future = (operation.run)(watched);
    // The in-memory store waits for nothing but a pause after a conflict.
    let paused = poll_fn(|context| {
        let polled = future.as_mut().poll(context);
        if polled.is_pending() {
            gate.wait(number, Doing::Pauses);
        }
        polled
    });
    match catch_unwind(AssertUnwindSafe(|| runtime().block_on(paused))) {
        Ok(result) => Ok(result),
        Err(panic) if panic.is::<Stopped>() => Err(Stopped),
        Err(panic) => {
            gate.end(number);
            resume_unwind(panic)
        }
    }
}
