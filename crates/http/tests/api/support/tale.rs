//! Exchanges written down, with ids and secrets by their numbers, and held against a file.

use std::{collections::HashMap, env, fmt::Write as _, fs, path::PathBuf};

use serde_json::Value;

use super::{Ask, Plan, Stand, Told};

/// What is asked and told, one exchange after another.
pub(crate) struct Tale {
    name: &'static str,
    pub(crate) stand: Stand,
    text: String,
    names: Names,
}

impl Tale {
    pub(crate) async fn new(name: &'static str) -> Self {
        Self::with(name, Plan::default()).await
    }

    pub(crate) async fn with(name: &'static str, plan: Plan) -> Self {
        let stand = Stand::with(plan).await;
        Self { name, stand, text: String::new(), names: Names::default() }
    }

    pub(crate) fn note(&mut self, text: &str) {
        writeln!(self.text, "# {text}\n").unwrap();
    }

    /// Asks as whoever, and writes it down.
    pub(crate) async fn ask(&mut self, who: &str, ask: Ask) -> Told {
        let told = self.stand.ask(ask.clone()).await;
        self.write(who, &ask, &told);
        told
    }

    pub(crate) async fn get(&mut self, path: &str) -> Told {
        let ask = Ask::get(path).key(&self.stand.secret);
        self.ask("secret", ask).await
    }

    pub(crate) async fn peek(&mut self, path: &str) -> Told {
        let ask = Ask::get(path).key(&self.stand.public);
        self.ask("public", ask).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: &Value) -> Told {
        let ask = Ask::post(path, body).key(&self.stand.secret);
        self.ask("secret", ask).await
    }

    pub(crate) async fn delete(&mut self, path: &str) -> Told {
        let ask = Ask::new("DELETE", path).key(&self.stand.secret);
        self.ask("secret", ask).await
    }

    fn write(&mut self, who: &str, ask: &Ask, told: &Told) {
        let names = &mut self.names;
        let text = &mut self.text;
        writeln!(text, "> {} {}  ({who})", ask.method, names.replace(&ask.path)).unwrap();
        for (name, value) in &ask.headers {
            if !["Authorization", "Content-Type"].contains(&&**name) {
                let value = names.replace(&String::from_utf8_lossy(value));
                writeln!(text, "> {name}: {value}").unwrap();
            }
        }
        if !ask.body.is_empty() && ask.body.len() < 1_000 {
            let body = String::from_utf8_lossy(&ask.body);
            writeln!(text, "> {}", names.replace(&body)).unwrap();
        }
        writeln!(text, "< {}", told.status).unwrap();
        for name in ["Location", "Idempotent-Replayed", "Allow", "WWW-Authenticate", "Retry-After"]
        {
            if let Some(value) = told.header(name) {
                writeln!(text, "< {name}: {}", names.replace(value)).unwrap();
            }
        }
        let body = std::str::from_utf8(&told.body).unwrap();
        let body = if told.status < 300 { pretty(body) } else { body.to_owned() };
        writeln!(text, "{}\n", names.replace(&body)).unwrap();
    }

    /// The tale is the one that the file tells. `CAURI_BLESS=1` writes the file.
    pub(crate) fn ends(self) {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/api/golden");
        let path = folder.join(format!("{}.txt", self.name));
        if env::var_os("CAURI_BLESS").is_some() {
            fs::write(&path, &self.text).unwrap();
        }
        let told = fs::read_to_string(&path).unwrap_or_default();
        let first = self.text.lines().zip(told.lines()).find(|(now, then)| now != then);
        if let Some((now, then)) = first {
            panic!("{}: now\n  {now}\ninstead of\n  {then}", path.display());
        }
        assert_eq!(self.text.lines().count(), told.lines().count(), "{}", path.display());
    }
}

/// A JSON text over several lines, its fields in the order in which they were sent.
fn pretty(text: &str) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    let (mut quoted, mut escaped) = (false, false);
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    for (at, c) in text.char_indices() {
        if quoted {
            out.push(c);
            quoted = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        let next = text[at + 1..].chars().next();
        let before = text[..at].chars().next_back();
        match c {
            '{' | '[' => {
                depth += 1;
                out.push(c);
                if next != Some('}') && next != Some(']') {
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth -= 1;
                if before != Some('{') && before != Some('[') {
                    line(&mut out, depth);
                }
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            '"' => {
                quoted = true;
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// A number for every id, in the order in which they turn up.
#[derive(Default)]
struct Names {
    known: HashMap<String, String>,
    counts: HashMap<String, usize>,
}

impl Names {
    fn replace(&mut self, text: &str) -> String {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(is_word) {
            let (before, from) = rest.split_at(start);
            let end = from.find(|c| !is_word(c)).unwrap_or(from.len());
            let (word, after) = from.split_at(end);
            out.push_str(before);
            out.push_str(&self.name(word));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn name(&mut self, word: &str) -> String {
        for (prefix, length) in [("whsec_", 46), ("sk_live_", 48), ("sk_test_", 48)] {
            if word.starts_with(prefix) && word.len() == length {
                return format!("{prefix}(secret)");
            }
        }
        if !is_id(word) {
            return word.to_owned();
        }
        if let Some(name) = self.known.get(word) {
            return name.clone();
        }
        let (prefix, _) = word.split_once('_').unwrap();
        let count = self.counts.entry(prefix.to_owned()).or_default();
        *count += 1;
        let name = format!("{prefix}_{count}");
        self.known.insert(word.to_owned(), name.clone());
        name
    }
}

/// A prefix and a UUID as 26 characters of lower-case Crockford base32.
pub(crate) fn is_id(word: &str) -> bool {
    let Some((prefix, rest)) = word.split_once('_') else { return false };
    prefix.bytes().all(|byte| byte.is_ascii_lowercase())
        && rest.len() == 26
        && rest.starts_with(|first| ('0'..='7').contains(&first))
        && rest.bytes().all(|byte| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&byte))
}
