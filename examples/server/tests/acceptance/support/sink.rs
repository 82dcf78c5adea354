//! A receiver of webhooks that remembers everything and can be told to misbehave.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{http, signature, time};

#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Status(u16),
    Redirect(String),
    /// Takes the request and never answers.
    Hang,
    /// Answers a byte a second.
    Drip,
    /// Takes the request and closes.
    Drop,
}

/// One request, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) at: Instant,
    pub(crate) unix: u64,
}

#[derive(Debug)]
pub(crate) struct Sink {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    hits: Mutex<Vec<Hit>>,
    /// Answers still to give, first one first; then the last for ever.
    script: Mutex<Vec<Answer>>,
    stopped: AtomicBool,
}

impl Sink {
    /// Answers 204 to everything.
    pub(crate) fn open() -> Self {
        Self::scripted(vec![Answer::Status(204)])
    }

    /// Gives these answers in order, and the last one from then on.
    pub(crate) fn scripted(script: Vec<Answer>) -> Self {
        assert!(!script.is_empty(), "a script has a last answer");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            hits: Mutex::default(),
            script: Mutex::new(script),
            stopped: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if shared.stopped.load(Ordering::Relaxed) {
                    return;
                }
                let state = Arc::clone(&shared);
                thread::spawn(move || state.serve(stream));
            }
        });
        Self { address, state }
    }

    pub(crate) fn url(&self) -> String {
        self.url_of("/hooks")
    }

    pub(crate) fn url_of(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// From now on.
    pub(crate) fn answer(&self, answer: Answer) {
        *self.state.script.lock().unwrap() = vec![answer];
    }

    pub(crate) fn hits(&self) -> Vec<Hit> {
        self.state.hits.lock().unwrap().clone()
    }

    /// The types received so far, in order of arrival.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let kind = |hit: &Hit| hit.event()["type"].as_str().unwrap_or("null").to_owned();
        self.hits().iter().map(kind).collect()
    }

    /// The types received so far in the order of their event ids, each event once.
    pub(crate) fn kinds_in_order(&self) -> Vec<String> {
        let mut events: Vec<(String, String)> = self
            .hits()
            .iter()
            .map(|hit| hit.event())
            .map(|event| (event["id"].to_string(), event["type"].as_str().unwrap().to_owned()))
            .collect();
        events.sort();
        events.dedup();
        events.into_iter().map(|(_, kind)| kind).collect()
    }

    pub(crate) fn awaits(&self, count: usize) -> Vec<Hit> {
        self.awaits_within(time::SOON, count)
    }

    pub(crate) fn awaits_within(&self, limit: Duration, count: usize) -> Vec<Hit> {
        time::within(limit, || {
            let hits = self.hits();
            if hits.len() >= count { Ok(hits) } else { Err(format!("{:?}", self.kinds())) }
        })
    }

    /// The first delivery of this kind.
    pub(crate) fn event(&self, kind: &str) -> Hit {
        time::soon(|| {
            let found = self.hits().into_iter().find(|hit| hit.event()["type"] == kind);
            found.ok_or_else(|| format!("{:?}", self.kinds()))
        })
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

impl Hit {
    pub(crate) fn event(&self) -> Value {
        serde_json::from_slice(&self.body).expect("an event is JSON")
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map_or_else(|| panic!("no {name} in {:?}", self.headers), |(_, value)| value)
    }

    /// How many signatures it carries.
    pub(crate) fn signatures(&self) -> usize {
        signature::parts(self.header("X-Webhook-Signature")).1.len()
    }

    /// Whether this secret signed it, at a time that is now.
    pub(crate) fn is_signed_by(&self, secret: &Value) -> bool {
        let secret = secret.as_str().expect("a secret");
        let (time, signatures) = signature::parts(self.header("X-Webhook-Signature"));
        let signed_at: u64 = time.parse().unwrap();
        assert!(signed_at.abs_diff(self.unix) <= 10, "{signed_at} is not {}", self.unix);
        signatures.contains(&signature::sign(secret, &time, &self.body))
    }
}

impl State {
    fn serve(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while !self.stopped.load(Ordering::Relaxed) {
            let Ok(Some((first, headers))) = http::head(&mut stream) else { return };
            let mut words = first.split(' ').map(str::to_owned);
            let (method, path) = (words.next(), words.next());
            let (method, path) = (method.unwrap_or_default(), path.unwrap_or_default());
            let length =
                headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
            let mut body = vec![0; length];
            if stream.read_exact(&mut body).is_err() {
                return;
            }
            let (at, unix) = (time::now(), time::unix_seconds());
            self.hits.lock().unwrap().push(Hit { method, path, headers, body, at, unix });
            if !self.answer(stream.get_mut()) {
                return;
            }
        }
    }

    fn next(&self) -> Answer {
        let mut script = self.script.lock().unwrap();
        if script.len() > 1 { script.remove(0) } else { script[0].clone() }
    }

    /// Whether the connection goes on.
    fn answer(&self, stream: &mut TcpStream) -> bool {
        let text = match self.next() {
            Answer::Status(204) => "HTTP/1.1 204 No Content\r\n\r\n".to_owned(),
            Answer::Status(status) => {
                format!("HTTP/1.1 {status} Answer\r\nContent-Length: 0\r\n\r\n")
            }
            Answer::Redirect(to) => {
                format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
            }
            Answer::Hang => {
                self.pause(120);
                return false;
            }
            Answer::Drip => {
                for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n".chunks(1) {
                    if stream.write_all(byte).is_err() || self.pause(1) {
                        return false;
                    }
                }
                return false;
            }
            Answer::Drop => return false,
        };
        stream.write_all(text.as_bytes()).is_ok()
    }

    /// Waits; says whether the sink was closed meanwhile.
    fn pause(&self, seconds: u32) -> bool {
        for _ in 0..seconds * 10 {
            if self.stopped.load(Ordering::Relaxed) {
                return true;
            }
            thread::sleep(Duration::from_millis(100));
        }
        false
    }
}
