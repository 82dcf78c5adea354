//! The URL of a database.

use std::str::FromStr as _;

use sqlx::postgres::PgConnectOptions;
use url::Url;

use crate::error::OpenError;

/// The word of the URL that names the schema. It is ours alone: the server is not told.
const SCHEMA: &str = "schema";

/// What a URL says of the connection, and of the schema if it does.
pub(crate) fn parse(location: &str) -> Result<(PgConnectOptions, Option<String>), OpenError> {
    let mut url = Url::parse(location).map_err(|error| OpenError::Location(Box::new(error)))?;
    if !matches!(url.scheme(), "postgres" | "postgresql") {
        return Err(OpenError::Location("another scheme".into()));
    }
    let (ours, others): (Vec<_>, Vec<_>) =
        url.query_pairs().into_owned().partition(|(name, _)| name == SCHEMA);
    url.set_query(None);
    if !others.is_empty() {
        url.query_pairs_mut().extend_pairs(others);
    }
    let options = PgConnectOptions::from_str(url.as_str())
        .map_err(|error| OpenError::Location(Box::new(error)))?;
    Ok((options, ours.into_iter().next_back().map(|(_, name)| name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_taken_out_of_the_url() {
        let url = "postgres://me:p%40ss@db.example:5433/shop?schema=my%20pay&sslmode=require";
        let (options, schema) = parse(url).unwrap();
        assert_eq!(schema.as_deref(), Some("my pay"));
        assert_eq!(options.get_host(), "db.example");
        assert_eq!(options.get_port(), 5433);
        assert_eq!(options.get_database(), Some("shop"));
        assert_eq!(format!("{:?}", options.get_ssl_mode()), "Require");
    }

    #[test]
    fn both_schemes_and_sockets_are_understood_and_nothing_else() {
        let (options, schema) = parse("postgresql://me@%2Ftmp%2Fsocket:5432/shop").unwrap();
        assert_eq!(schema, None);
        assert_eq!(options.get_socket().unwrap().to_str(), Some("/tmp/socket"));
        for other in ["mysql://localhost/shop", "localhost", ""] {
            assert!(matches!(parse(other), Err(OpenError::Location(_))), "{other}");
        }
    }
}
