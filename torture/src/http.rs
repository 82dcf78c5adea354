//! As much of an HTTP/1.1 client as the API needs, which never sends anything twice by itself.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// After this an answer is not waited for any more, and what became of the request is unknown.
const PATIENCE: Duration = Duration::from_secs(6);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) replayed: bool,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether it says that the request was understood and had no effect, for a reason that asking
    /// again at once does not change.
    pub(crate) fn is_refusal(&self) -> bool {
        (400..500).contains(&self.status) && self.status != 429
    }

    pub(crate) fn json(&self) -> Result<Value, String> {
        serde_json::from_slice(&self.body).map_err(|error| format!("{error} in {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        format!("{} {}", self.status, String::from_utf8_lossy(&self.body))
    }
}

/// One request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    /// The `Idempotency-Key`.
    pub(crate) key: Option<&'a str>,
    pub(crate) body: &'a str,
}

/// Somebody with a key to the API, and a connection that is kept.
#[derive(Debug)]
pub(crate) struct Caller {
    secret: String,
    line: Option<(SocketAddr, BufReader<TcpStream>)>,
}

impl Caller {
    pub(crate) fn with(secret: &str) -> Self {
        Self { secret: secret.to_owned(), line: None }
    }

    /// `Err`: nobody knows whether it was done.
    pub(crate) fn ask(&mut self, at: SocketAddr, ask: Ask<'_>) -> io::Result<Answer> {
        let mut stream = match self.line.take() {
            Some((address, stream)) if address == at => stream,
            _ => connect(at)?,
        };
        let Ask { method, path, key, body } = ask;
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nHost: {at}\r\nAuthorization: Bearer {}\r\n",
            self.secret
        );
        if let Some(key) = key {
            text += &format!("Idempotency-Key: {key}\r\n");
        }
        if !body.is_empty() {
            text +=
                &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        }
        text += "\r\n";
        text += body;
        stream.get_mut().write_all(text.as_bytes())?;
        let (answer, ends) = read_answer(&mut stream)?;
        if !ends {
            self.line = Some((at, stream));
        }
        Ok(answer)
    }

    pub(crate) fn get(&mut self, at: SocketAddr, path: &str) -> Result<Value, String> {
        let ask = Ask { method: "GET", path, key: None, body: "" };
        let answer = self.ask(at, ask).map_err(|error| format!("GET {path}: {error}"))?;
        if answer.status == 200 {
            answer.json()
        } else {
            Err(format!("GET {path}: {}", answer.text()))
        }
    }

    /// Everything of a list, oldest first.
    pub(crate) fn list(&mut self, at: SocketAddr, path: &str) -> Result<Vec<Value>, String> {
        let mut all = Vec::new();
        loop {
            let joint = if path.contains('?') { '&' } else { '?' };
            let mut page = self.get(at, &format!("{path}{joint}limit=100&offset={}", all.len()))?;
            let data = page["data"].as_array_mut().ok_or("a list without data")?;
            all.append(data);
            if page["has_more"] != true {
                all.reverse();
                return Ok(all);
            }
        }
    }

    pub(crate) fn total(&mut self, at: SocketAddr, path: &str) -> Result<u64, String> {
        let page = self.get(at, path)?;
        page["total"].as_u64().ok_or_else(|| format!("no total in {page}"))
    }
}

fn connect(at: SocketAddr) -> io::Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect_timeout(&at, PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(BufReader::new(stream))
}

fn read_answer(stream: &mut BufReader<TcpStream>) -> io::Result<(Answer, bool)> {
    let (first, headers) = read_head(stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let status = first.split(' ').nth(1).and_then(|text| text.parse().ok()).ok_or_else(broken)?;
    let body = read_body(stream, &headers)?;
    let find = |name| header(&headers, name).map(str::to_owned);
    let answer = Answer {
        status,
        location: find("location"),
        replayed: find("idempotent-replayed").as_deref() == Some("true"),
        body,
    };
    Ok((answer, find("connection").as_deref() == Some("close")))
}

/// First line and headers of a message.
pub(crate) type Head = (String, Vec<(String, String)>);

/// `None` when the connection ended before it.
pub(crate) fn read_head(stream: &mut impl BufRead) -> io::Result<Option<Head>> {
    let Some(first) = read_line(stream)? else { return Ok(None) };
    let mut headers = Vec::new();
    loop {
        let line = read_line(stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        if line.is_empty() {
            return Ok(Some((first, headers)));
        }
        let (name, value) = line.split_once(':').ok_or_else(broken)?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

pub(crate) fn read_body(
    stream: &mut impl Read,
    headers: &[(String, String)],
) -> io::Result<Vec<u8>> {
    let length = header(headers, "content-length").unwrap_or("0");
    let mut body = vec![0; length.parse().map_err(|_| broken())?];
    stream.read_exact(&mut body)?;
    Ok(body)
}

pub(crate) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

fn read_line(stream: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if stream.read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(String::from_utf8_lossy(&bytes).trim_end_matches('\r').to_owned()))
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not HTTP")
}
