//! A server to be asked over its API.

use std::io;

use cauri::{Entropy, OsEntropy};
use cauri_client::{BuildError, Call, Client, IdempotencyKey, Listing, Page, wire::List};
use clap::{Args, builder::FalseyValueParser};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{
    error::{Failure, Untold},
    interrupt::Interrupt,
    output::Output,
};

#[derive(Debug, Args)]
pub(crate) struct RemoteOptions {
    /// The server: where its API is, with or without its /v1
    #[arg(long, env = "CAURI_URL", default_value = "http://127.0.0.1:8080")]
    pub(crate) url: String,
    /// The API key to ask with; better in the environment, where other users do not see it
    #[arg(long, env = "CAURI_KEY", hide_env_values = true)]
    pub(crate) key: String,
    /// The key may travel unencrypted to another machine
    #[arg(long, env = "CAURI_PLAIN_HTTP", value_parser = FalseyValueParser::new())]
    pub(crate) plain_http: bool,
}

impl RemoteOptions {
    pub(crate) fn client(&self) -> Result<Client, BuildError> {
        Client::builder(&self.url, &self.key).plain_http(self.plain_http).build()
    }
}

/// Which part of a list is wanted.
#[derive(Debug, Args)]
pub(crate) struct PageOptions {
    /// How many, newest first
    #[arg(long, default_value_t = 25, allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=100))]
    limit: u8,
    /// How many to pass over first
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(0..))]
    offset: i64,
    /// All of them
    #[arg(long, conflicts_with_all = ["limit", "offset"])]
    all: bool,
}

impl PageOptions {
    /// Says every item that is wanted: as the server wrote it, or as a line for people.
    pub(crate) async fn say<T: DeserializeOwned>(
        &self,
        output: Output,
        listing: Listing<Box<RawValue>>,
        line: impl Fn(&T) -> String,
    ) -> Result<(), Failure> {
        use futures_util::TryStreamExt;
        if self.all {
            let mut items = listing.items();
            while let Some(item) = items.try_next().await? {
                say(output, &item, &line)?;
            }
            return Ok(());
        }
        let page = Page::new(self.limit, self.offset).unwrap_or_default();
        let List { data, total, has_more, .. } = listing.page(page).await?;
        for item in &data {
            say(output, item, &line)?;
        }
        let shown = data.len();
        if has_more {
            output.remark(&format!("{shown} of {total}; --all shows every one"))?;
        } else if total == 0 {
            output.remark("There are none.")?;
        }
        Ok(())
    }
}

/// Says one thing: as the server wrote it, or as a line for people.
fn say<T: DeserializeOwned>(
    output: Output,
    raw: &RawValue,
    line: impl Fn(&T) -> String,
) -> Result<(), Failure> {
    // What is to be repeated word for word need not be understood.
    let text = if output.json { String::new() } else { shown(raw, line) };
    Ok(output.say(raw, &text)?)
}

/// A line for people; everything, where a later server uses a word that this program does not know.
/// It was done all the same.
fn shown<T: DeserializeOwned>(raw: &RawValue, line: impl Fn(&T) -> String) -> String {
    serde_json::from_str(raw.get()).map_or_else(|_| pretty(raw.get()), |it| line(&it))
}

/// Makes a call that is to be made once, and says what came of it. Its key is drawn before it is
/// sent: whatever keeps the answer from whoever asked, they are told the key.
pub(crate) async fn make<T: DeserializeOwned + Send + 'static>(
    output: Output,
    call: Call<T>,
    key: Option<IdempotencyKey>,
    line: impl Fn(&T) -> String,
) -> Result<(), Failure> {
    let mut interrupt = Interrupt::new()?;
    let key = key.map_or_else(fresh_key, Ok)?;
    let raw = tokio::select! {
        biased;
        answered = call.idempotency_key(key.clone()).raw() => answered?,
        () = interrupt.came() => return Err(Untold::interrupted(key).into()),
    };
    let text = if output.json { String::new() } else { shown(&raw, line) };
    Ok(output.say(&raw, &text).map_err(|error| Untold::unsaid(key, id(&raw), error))?)
}

/// A key that nobody has drawn before.
fn fresh_key() -> Result<IdempotencyKey, Failure> {
    let random: String = OsEntropy::default().seed().iter().map(|it| format!("{it:02x}")).collect();
    Ok(format!("cauri-{random}").parse::<IdempotencyKey>()?)
}

/// What an answer is about.
fn id(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        id: String,
    }
    serde_json::from_str(raw.get()).ok().map(|named: Named| named.id)
}

/// Says one thing with all of its fields.
pub(crate) fn say_whole(output: Output, raw: &RawValue) -> io::Result<()> {
    output.say(raw, &pretty(raw.get()))
}

/// JSON with a line for each field, in its own order.
fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len().saturating_mul(2));
    let (mut depth, mut within, mut escaped): (usize, bool, bool) = (0, false, false);
    let mut characters = json.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    while let Some(character) = characters.next() {
        if within {
            out.push(character);
            within = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        match character {
            '"' => {
                within = true;
                out.push('"');
            }
            '{' | '[' => {
                out.push(character);
                if matches!(characters.peek(), Some('}' | ']')) {
                    out.extend(characters.next());
                } else {
                    depth = depth.saturating_add(1);
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            white if white.is_ascii_whitespace() => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_shown_as_it_came() {
        let line =
            |statuses: &Vec<cauri_client::PayoutStatus>| format!("{} of them", statuses.len());
        let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
        assert_eq!(shown(&raw(r#"["created"]"#), line), "1 of them");
        assert_eq!(shown(&raw(r#"["on_the_moon"]"#), line), "[\n  \"on_the_moon\"\n]");
    }

    #[test]
    fn json_is_laid_out_in_its_own_order() {
        let json = r#"{"b":[],"a":{ "x":"1, {\"2\"}: \\"},"c":[1,-2.5,null]}"#;
        let expected = "{\n  \"b\": [],\n  \"a\": {\n    \"x\": \"1, {\\\"2\\\"}: \\\\\"\n  },\n  \
                        \"c\": [\n    1,\n    -2.5,\n    null\n  ]\n}";
        assert_eq!(pretty(json), expected);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&pretty(json)), value(json));
    }
}
