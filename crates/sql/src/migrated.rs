/// What opening a store did to its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Migrated {
    /// The version that was there; 0 when there was none.
    pub from: i64,
    /// The version that is there now.
    pub to: i64,
}

impl Migrated {
    /// From one version to another.
    ///
    /// ```
    /// let migrated = cauri_sql::Migrated::new(0, 1);
    /// assert_eq!((migrated.from, migrated.to), (0, 1));
    /// ```
    #[must_use]
    pub const fn new(from: i64, to: i64) -> Self {
        Self { from, to }
    }
}
