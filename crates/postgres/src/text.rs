//! Pieces of statements.

use std::{fmt, iter, sync::Arc};

use cauri_sql::{Column, Kind, Table};
use sqlx::{AssertSqlSafe, SqlSafeStr as _, SqlStr};

use crate::error::OpenError;

/// The name of the schema that holds the tables. Statements name it in front of every table, so
/// that they mean the same on a connection that somebody else has set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schema {
    name: String,
    quoted: String,
}

impl Schema {
    pub(crate) fn new(name: &str) -> Result<Self, OpenError> {
        // Longer names would be cut off, and two of them could become one.
        if !(1..=63).contains(&name.len()) || name.contains('\0') {
            return Err(OpenError::SchemaName);
        }
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        Ok(Self { name: name.to_owned(), quoted })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn quoted(&self) -> &str {
        &self.quoted
    }

    pub(crate) fn table(&self, table: &Table) -> String {
        self.of(table.name())
    }

    pub(crate) fn of(&self, name: &str) -> String {
        format!("{}.{name}", self.quoted)
    }

    /// The same statement with the schema in front of every table. `cauri-sql` names tables after
    /// `FROM` only, and every value is an argument, so nothing else looks like that.
    pub(crate) fn qualified(&self, statement: &str) -> String {
        statement.replace("FROM \"", &format!("FROM {}.\"", self.quoted))
    }
}

/// A text of ours, which holds no value.
pub(crate) fn kept(text: String) -> SqlStr {
    AssertSqlSafe(Arc::<str>::from(text)).into_sql_str()
}

/// Postgres's name of the type of a kind.
pub(crate) const fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Flag => "boolean",
        Kind::Int => "bigint",
        Kind::Text => "text",
        Kind::Bytes => "bytea",
        Kind::Id => "uuid",
    }
}

/// Counts the arguments of a statement while it is written.
#[derive(Debug, Default)]
pub(crate) struct Numbering(usize);

impl Numbering {
    fn next(&mut self) -> usize {
        self.0 = self.0.saturating_add(1);
        self.0
    }

    /// `$4`
    pub(crate) fn one(&mut self) -> String {
        format!("${}", self.next())
    }

    /// `$5::bigint[]`
    pub(crate) fn array(&mut self, kind: Kind) -> String {
        format!("${}::{}[]", self.next(), type_of(kind))
    }

    /// The argument that was numbered last.
    pub(crate) const fn last(&self) -> usize {
        self.0
    }

    /// `unnest($1::"cauri".payments[], $2::bigint[])`: whole rows of a table, and behind each of
    /// them one number for each of the others.
    pub(crate) fn unnest_rows(&mut self, schema: &Schema, table: &Table, numbers: usize) -> String {
        let rows = format!("${}::{}[]", self.next(), schema.table(table));
        let numbers = (0..numbers).map(|_| format!("${}::bigint[]", self.next()));
        format!("unnest({})", iter::once(rows).chain(numbers).collect::<Vec<_>>().join(", "))
    }

    /// `unnest($1::uuid[], $2::boolean[])`: one row for each element of arrays of these kinds.
    pub(crate) fn unnest(&mut self, kinds: impl IntoIterator<Item = Kind>) -> String {
        let arrays = kinds.into_iter().map(|kind| self.array(kind));
        format!("unnest({})", arrays.collect::<Vec<_>>().join(", "))
    }
}

/// `c0, c1, c2`
pub(crate) fn places(count: usize) -> String {
    joined((0..count).map(|at| format!("c{at}")))
}

/// Compares key columns with values, such that only the index of that key can find the row.
///
/// The key of a scope's record is its id, which alone is next to unique, and its index begins with
/// it. Account and environment are compared in a way that no index understands: several indexes
/// begin with them, and without statistics (the tables of a new installation) the server would
/// take any of those for as good as the one with the id, and read all of a busy account.
///
/// `t.id = v.c2 and t.account is not distinct from v.c0 and t.live is not distinct from v.c1`
pub(crate) fn matches(columns: &[Column], t: &str, value: impl Fn(usize) -> String) -> String {
    let by_id = columns.iter().any(|column| column.name == "id");
    let pairs = columns.iter().enumerate().map(|(at, column)| {
        let equal = if by_id && column.name != "id" { "is not distinct from" } else { "=" };
        format!("{t}.{} {equal} {}", column.name, value(at))
    });
    pairs.collect::<Vec<_>>().join(" and ")
}

/// The columns' names, each with this in front.
pub(crate) fn names(columns: &[Column], prefix: &str) -> String {
    joined(columns.iter().map(|column| format!("{prefix}{}", column.name)))
}

pub(crate) fn kinds(columns: &[Column]) -> impl Iterator<Item = Kind> {
    columns.iter().map(|column| column.kind)
}

pub(crate) fn joined(parts: impl IntoIterator<Item = impl fmt::Display>) -> String {
    let parts: Vec<String> = parts.into_iter().map(|part| part.to_string()).collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_and_bounded() {
        assert_eq!(Schema::new("a\"b c").unwrap().of("payments"), "\"a\"\"b c\".payments");
        assert!(Schema::new(&"é".repeat(31)).is_ok());
        for name in ["", "a\0b", &"é".repeat(32)] {
            assert!(matches!(Schema::new(name), Err(OpenError::SchemaName)));
        }
    }

    #[test]
    fn every_table_of_a_statement_gets_the_schema() {
        let schema = Schema::new("s").unwrap();
        let text = "SELECT a FROM \"t\" WHERE n IN (SELECT n FROM \"t\" WHERE x = $1)";
        let qualified =
            "SELECT a FROM \"s\".\"t\" WHERE n IN (SELECT n FROM \"s\".\"t\" WHERE x = $1)";
        assert_eq!(schema.qualified(text), qualified);
    }
}
