//! A small HTTP/1.1 client that shows every byte and may send nonsense.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;

use super::secrecy;

const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Http {
    address: SocketAddr,
    idle: Mutex<Vec<BufReader<TcpStream>>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Http {
    pub(crate) fn at(url: &str) -> Self {
        let address = url.strip_prefix("http://").expect("an http url");
        let address = address.trim_end_matches('/').parse().expect("a socket address");
        Self { address, idle: Mutex::new(Vec::new()) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sends on an idle connection where there is one. Only a connection that the server had
    /// closed before it read anything is replaced, so nothing is sent twice.
    pub(crate) fn send(&self, request: &Request) -> io::Result<Response> {
        let idle = self.idle.lock().unwrap().pop();
        if let Some(mut stream) = idle
            && let Some(response) = self.exchange(&mut stream, request)?
        {
            secrecy::watch(Some(request), &response);
            self.keep(stream, &response);
            return Ok(response);
        }
        let mut stream = BufReader::new(self.connect()?);
        let response = self
            .exchange(&mut stream, request)?
            .ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        secrecy::watch(Some(request), &response);
        self.keep(stream, &response);
        Ok(response)
    }

    /// Sends bytes as they are on a connection of their own; `None` when nothing came back.
    pub(crate) fn raw(&self, bytes: &[u8]) -> io::Result<Option<Response>> {
        let mut stream = BufReader::new(self.connect()?);
        // A refusal may arrive, and the connection end, before everything is written.
        let _ = stream.get_mut().write_all(bytes);
        let answer = Response::read(&mut stream)?;
        answer.iter().for_each(|answer| secrecy::watch(None, answer));
        Ok(answer)
    }

    /// Sends bytes as they are on a connection of their own, and reads whatever is answered until
    /// the other side ends it, which it must.
    pub(crate) fn answers(&self, bytes: &[u8]) -> Vec<Response> {
        let mut stream = BufReader::new(self.connect().unwrap());
        let _ = stream.get_mut().write_all(bytes);
        let mut answers = Vec::new();
        loop {
            match Response::read(&mut stream) {
                Ok(Some(answer)) => answers.push(answer),
                Ok(None) => return answers,
                Err(error) if gone(&error) => return answers,
                Err(error) => panic!("{error} after {answers:?}"),
            }
        }
    }

    pub(crate) fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    fn exchange(
        &self,
        stream: &mut BufReader<TcpStream>,
        request: &Request,
    ) -> io::Result<Option<Response>> {
        let wrote = stream.get_mut().write_all(&request.bytes(self.address));
        match (Response::read(stream), wrote) {
            (Err(error), _) if gone(&error) => Ok(None),
            (Ok(None), Err(error)) if !gone(&error) => Err(error),
            (read, _) => read,
        }
    }

    fn keep(&self, stream: BufReader<TcpStream>, response: &Response) {
        let closing = response.header("connection").is_some_and(|v| v.contains("close"));
        if !closing && stream.buffer().is_empty() {
            self.idle.lock().unwrap().push(stream);
        }
    }
}

fn gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

impl Request {
    fn bytes(&self, host: SocketAddr) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: {host}\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        if !self.body.is_empty() || self.method == "POST" {
            write!(head, "Content-Length: {}\r\n", self.body.len()).unwrap();
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {}: {}", self.status, self.text()))
    }

    /// The body of an answer that has this status.
    #[track_caller]
    pub(crate) fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }

    pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Option<Self>> {
        let Some((status_line, headers)) = head(stream)? else { return Ok(None) };
        let status = status_line.split(' ').nth(1).and_then(|text| text.parse().ok());
        let status = status.ok_or_else(|| invalid(&status_line))?;
        let mut response = Self { status, headers, body: Vec::new() };
        let chunked = response.header("transfer-encoding").is_some_and(|v| v.contains("chunked"));
        let length = response.header("content-length").map(str::to_owned);
        if status < 200 || status == 204 || status == 304 {
        } else if chunked {
            response.body = read_chunks(stream)?;
        } else if let Some(length) = length {
            let length = length.parse().map_err(|_| invalid(&length))?;
            response.body = vec![0; length];
            stream.read_exact(&mut response.body)?;
        } else {
            stream.read_to_end(&mut response.body)?;
        }
        Ok(Some(response))
    }
}

/// The first line and the headers of a message.
pub(crate) type Head = (String, Vec<(String, String)>);

/// What a message begins with; `None` when the connection ended before it.
pub(crate) fn head(stream: &mut impl BufRead) -> io::Result<Option<Head>> {
    let Some(first) = line(stream)? else { return Ok(None) };
    let mut headers = Vec::new();
    while let Some(text) = line(stream)? {
        if text.is_empty() {
            return Ok(Some((first, headers)));
        }
        let (name, value) = text.split_once(':').ok_or_else(|| invalid(&text))?;
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

fn line(stream: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if stream.read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
}

fn read_chunks(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let digits = size.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16).map_err(|_| invalid(&size))?;
        let mut chunk = vec![0; length];
        stream.read_exact(&mut chunk)?;
        line(stream)?;
        if length == 0 {
            return Ok(body);
        }
        body.append(&mut chunk);
    }
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not HTTP: {text:?}"))
}
