//! The statements, written once and kept: few texts, so that the connection's cache of prepared
//! statements has them all.

use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{LazyLock, PoisonError, RwLock},
};

use cauri_sql::{Column, Table};
use sqlx::{AssertSqlSafe, SqlSafeStr as _, SqlStr};

/// How many rows one statement may take. Every size is a statement that has to be prepared and
/// kept, and every statement of a commit is a message to the connection's thread and back: with
/// these, up to sixteen rows are one statement, and up to sixty-four mostly two.
const SIZES: [usize; 24] =
    [64, 56, 48, 40, 32, 28, 24, 20, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1];

/// The most rows of one statement.
pub(crate) const ROWS_MAX: usize = 64;

/// The largest size that is not more than this many rows.
pub(crate) fn fitting(rows: usize) -> usize {
    SIZES.into_iter().find(|size| *size <= rows).unwrap_or(1)
}

/// The smallest size that is not less than this many rows: what is missing is filled with nulls.
pub(crate) fn holding(rows: usize) -> usize {
    SIZES.into_iter().rev().find(|size| *size >= rows).unwrap_or(ROWS_MAX)
}

/// What a statement does to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Verb {
    /// Adds rows.
    Insert,
    /// Adds rows, or adds each number of the new to that of the one that is there.
    Add,
    /// Gives rows new values, found by their key.
    Update,
    /// Finds rows by the key.
    FindRow,
    /// Finds the value of a column by the key.
    Find(&'static str),
    /// The same, by a column of its own.
    FindBy(&'static str, &'static str),
    /// Deletes rows, found by their key.
    Delete,
    /// Deletes rows, found by a column of its own.
    DeleteBy(&'static str),
    /// Moves `due_at` of rows, found by their rowid, and answers them.
    Lease,
}

/// By verb, table and number of rows.
type Texts = HashMap<(Verb, &'static str, usize), SqlStr>;

static TEXTS: LazyLock<RwLock<Texts>> = LazyLock::new(RwLock::default);

/// The statement for this many rows.
pub(crate) fn text(verb: Verb, table: &'static Table, rows: usize) -> SqlStr {
    let at = (verb, table.name(), rows);
    let known = TEXTS.read().unwrap_or_else(PoisonError::into_inner).get(&at).cloned();
    known.unwrap_or_else(|| {
        let text = kept(written(verb, table, rows));
        TEXTS.write().unwrap_or_else(PoisonError::into_inner).insert(at, text.clone());
        text
    })
}

/// A text of ours, which holds no value.
pub(crate) fn kept(text: String) -> SqlStr {
    AssertSqlSafe(std::sync::Arc::<str>::from(text)).into_sql_str()
}

/// `or fail`, since a statement that fails takes its whole transaction with it: without it SQLite
/// copies every page that a statement of several rows touches, to be able to undo just that one.
fn written(verb: Verb, table: &Table, rows: usize) -> String {
    let name = table.name();
    let (columns, key) = (table.columns(), table.key());
    match verb {
        Verb::Insert => {
            let values = values(columns.len(), rows);
            format!("insert or fail into {name} ({}) values {values}", names(columns, ""))
        }
        Verb::Add => {
            let sums = columns
                .iter()
                .skip(key.len())
                .map(|Column { name: sum, .. }| format!("{sum} = {name}.{sum} + excluded.{sum}"));
            format!(
                "insert or fail into {name} ({}) values {} on conflict ({}) do update set {}",
                names(columns, ""),
                values(columns.len(), rows),
                names(key, ""),
                sums.collect::<Vec<_>>().join(", "),
            )
        }
        Verb::Update => {
            let mutable = table.mutable();
            let mut sets = String::new();
            for (at, column) in mutable.iter().enumerate() {
                let comma = if at == 0 { "" } else { ", " };
                let from = at.saturating_add(key.len()).saturating_add(1);
                let _ = write!(sets, "{comma}{} = v.column{from}", column.name);
            }
            let values = values(key.len().saturating_add(mutable.len()), rows);
            let on = matches(&names_of(key), 1);
            format!("update or fail {name} as t set {sets} from (values {values}) as v where {on}")
        }
        Verb::FindRow => find(&names(columns, "t."), name, &names_of(key), rows),
        Verb::Find(answer) => find(&format!("t.{answer}"), name, &names_of(key), rows),
        Verb::FindBy(column, answer) => find(&format!("t.{answer}"), name, &[column], rows),
        Verb::Delete => delete(name, &names_of(key), rows),
        Verb::DeleteBy(column) => delete(name, &[column], rows),
        Verb::Lease => format!(
            "update {name} set due_at = ?, version = version + 1 where rowid in ({}) \
             returning rowid, {}",
            vec!["?"; rows].join(", "),
            names(columns, ""),
        ),
    }
}

/// Each key comes with a number that tells the answers apart. A cross join, in SQLite, is read in
/// the order in which it is written: the keys first, then the table by its index.
fn find(answer: &str, table: &str, key: &[&str], rows: usize) -> String {
    let values = values(key.len().saturating_add(1), rows);
    format!(
        "select v.column1, {answer} from (values {values}) as v cross join {table} as t on {}",
        matches(key, 2)
    )
}

fn delete(table: &str, key: &[&str], rows: usize) -> String {
    format!(
        "delete from {table} where ({}) in (values {})",
        key.join(", "),
        values(key.len(), rows)
    )
}

/// `t.a = v.column1 and t.b = v.column2 …`
pub(crate) fn matches(key: &[&str], from: usize) -> String {
    let pairs: Vec<_> =
        (from..).zip(key).map(|(at, name)| format!("t.{name} = v.column{at}")).collect();
    pairs.join(" and ")
}

fn names_of(columns: &[Column]) -> Vec<&'static str> {
    columns.iter().map(|column| column.name).collect()
}

pub(crate) fn names(columns: &[Column], prefix: &str) -> String {
    let names: Vec<_> = columns.iter().map(|column| format!("{prefix}{}", column.name)).collect();
    names.join(", ")
}

/// `(?, ?), (?, ?) …`
pub(crate) fn values(columns: usize, rows: usize) -> String {
    let row = format!("({})", vec!["?"; columns].join(", "));
    vec![row; rows].join(", ")
}
