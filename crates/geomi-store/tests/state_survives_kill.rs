//! `kill -9` in the midst of commits: what was acknowledged is there, and no
//! batch is torn.
//!
//! This file is two programs. Started with a folder as its argument it is the
//! writer: it commits numbered batches and prints each number once its commit
//! has returned. Started by `cargo test` it starts the writer, kills it after a
//! varying number of acknowledgements, opens what it left and compares.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use geomi_state::{Batch, Scan, StateError, StateStore, after_prefix};
use geomi_store::{FjallOptions, FjallStore};

/// How often the writer is killed.
const ROUNDS: u64 = 20;
/// Keys that every batch sets to its own number: a torn batch leaves two numbers.
const WITNESSES: u64 = 40;
/// Batch rows kept; each batch deletes the one this far back.
const ROWS_KEPT: u64 = 500;

fn main() {
    // The arguments `cargo test` passes on are filters and flags, not folders.
    match env::args().nth(1) {
        Some(folder) if Path::new(&folder).is_dir() => write_until_killed(Path::new(&folder)),
        _ => kill_and_compare(),
    }
}

fn open(folder: &Path) -> FjallStore {
    let options = FjallOptions {
        // So small that tables are written out and merged all the time.
        memtable_bytes: 64 * 1024,
        ..FjallOptions::default()
    };
    FjallStore::open(folder, options).expect("the state opens")
}

fn write_until_killed(folder: &Path) {
    let mut store = open(folder);
    let mut batch = Batch::new();
    let mut number = last_number(&store).expect("the state can be read");
    loop {
        number += 1;
        batch.clear();
        fill(&mut batch, number);
        store.commit(&batch).expect("the commit is acknowledged");
        #[expect(clippy::disallowed_methods, reason = "all it prints is its own")]
        let mut stdout = io::stdout().lock();
        let told = writeln!(stdout, "{number}").and_then(|()| stdout.flush());
        if told.is_err() {
            return; // The reader is gone: there is nobody left to write for.
        }
    }
}

fn fill(batch: &mut Batch, number: u64) {
    let value = number.to_be_bytes();
    for witness in 0..WITNESSES {
        batch.put(&key(b'w', witness), &value);
    }
    let length = 100 + (number * 7919) % 3000;
    batch.put(&key(b'r', number), &vec![number as u8; length as usize]);
    if let Some(old) = number.checked_sub(ROWS_KEPT) {
        batch.delete(&key(b'r', old));
    }
    batch.put(b"last", &value);
}

fn key(kind: u8, number: u64) -> [u8; 9] {
    let mut key = [kind; 9];
    key[1..].copy_from_slice(&number.to_be_bytes());
    key
}

fn last_number(store: &FjallStore) -> Result<u64, StateError> {
    Ok(store.get(b"last")?.as_deref().map_or(0, number))
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes.try_into().expect("a number has eight bytes"))
}

fn kill_and_compare() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut total = 0;
    for round in 0..ROUNDS {
        // From the first commit after opening to some way into a run.
        let patience = 1 + (round * round * 7919) % 120;
        let acknowledged = run_and_kill(folder.path(), patience);
        assert!(acknowledged > total, "the writer goes on where it was");
        compare(folder.path(), acknowledged);
        total = acknowledged;
    }
    eprintln!("killed {ROUNDS} times over {total} acknowledged batches: none lost, none torn");
}

/// Kills the writer after `patience` acknowledgements; the last one it gave.
fn run_and_kill(folder: &Path, patience: u64) -> u64 {
    let program = env::current_exe().expect("this program has a path");
    let mut writer = Command::new(program)
        .arg(folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the writer starts");
    let stdout = writer.stdout.take().expect("its output is piped");
    let mut lines = BufReader::new(stdout).lines();
    let mut acknowledged = None;
    for _ in 0..patience {
        let line = lines.next().expect("the writer goes on until it is killed");
        acknowledged = line.ok().and_then(|line| line.parse().ok());
    }
    writer.kill().expect("the writer can be killed");
    writer.wait().expect("the writer has ended");
    // It went on while we were reading: these count as acknowledged too. Only
    // the last line may have been cut short by the kill.
    let rest = lines.map_while(Result::ok);
    let rest = rest.filter_map(|line| line.parse::<u64>().ok());
    let last = acknowledged.expect("an acknowledgement is a number");
    rest.filter(|&number| number > last).fold(last, u64::max)
}

fn compare(folder: &Path, acknowledged: u64) {
    let store = open(folder);
    let last = last_number(&store).expect("the state can be read");
    assert!(
        last == acknowledged || last == acknowledged + 1,
        "batch {acknowledged} was acknowledged and {last} is the last one there"
    );
    for witness in 0..WITNESSES {
        let value = store.get(&key(b'w', witness)).expect("it can be read");
        let found = value.as_deref().map(number);
        assert_eq!(found, Some(last), "batch {last} is torn at {witness}");
    }
    let mut next = last.saturating_sub(ROWS_KEPT - 1).max(1);
    let check_row = &mut |row: &[u8], value: &[u8]| {
        assert_eq!(row, key(b'r', next), "a batch's row is missing");
        let length = 100 + (next * 7919) % 3000;
        assert_eq!(value, vec![next as u8; length as usize], "row {next}");
        next += 1;
        Scan::Continue
    };
    let scanned = store.scan(b"r", &after_prefix(b"r"), check_row);
    scanned.expect("the rows can be scanned");
    assert_eq!(next, last + 1, "rows of later batches are missing");
}
