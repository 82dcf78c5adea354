//! What the SQL stores of cauri share: tables, row mapping, filters.
