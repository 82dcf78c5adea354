//! Words of closed lists on the command line: what may be said is shown, and completed.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// One of these, by its word.
pub(crate) fn words<T>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: std::error::Error + Send + Sync> + Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.iter().copied().map(word)).try_map(|word| word.parse::<T>())
}
