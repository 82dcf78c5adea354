//! Ten times what a server can take, measured from outside: what is accepted, what is refused, and
//! how soon each is told; then whether it is as before when it is over.
//!
//! ```text
//! cauri-server serve --store sqlite:/tmp/overload.db --rate-limit off --accounts 1 --json
//! cargo run --release -p cauri-server --example overload -- http://127.0.0.1:8080 sk_test_… 20 PID
//! ```
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for a person at a desk")]
#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    task::JoinSet,
};

/// Callers that a server is busy with, and ten times as many.
const PHASES: [(&str, usize); 4] =
    [("busy", 256), ("ten times that", 2_560), ("busy again", 256), ("one caller", 1)];

/// What came back, and how soon.
#[derive(Debug, Default)]
struct Told {
    accepted: Vec<Duration>,
    refused: Vec<Duration>,
    broken: usize,
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, key, seconds, rest @ ..] = &*arguments else {
        println!("overload URL KEY SECONDS [PID]");
        return;
    };
    let address = url.trim_start_matches("http://").to_owned();
    let seconds: u64 = seconds.parse().unwrap();
    for (name, callers) in PHASES {
        let told = phase(&address, key, callers, Duration::from_secs(seconds)).await;
        let Told { mut accepted, mut refused, broken } = told;
        println!(
            "{name:15} {callers:5} callers: accepted {}; refused {}; broken {broken}; memory {}",
            line(&mut accepted, seconds),
            line(&mut refused, seconds),
            rest.first().and_then(|pid| resident(pid)).unwrap_or_default(),
        );
    }
}

/// So many a second, and percentiles.
fn line(of: &mut [Duration], seconds: u64) -> String {
    of.sort();
    let at = |percent: usize| of.get((of.len().max(1) - 1) * percent / 100).copied();
    let ms = |percent| at(percent).map_or_else(|| "-".to_owned(), |it| it.as_millis().to_string());
    let count = u64::try_from(of.len()).unwrap() / seconds;
    format!("{count}/s p50 {} p99 {} max {} ms", ms(50), ms(99), ms(100))
}

fn resident(pid: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().to_owned())
}

async fn phase(address: &str, key: &str, callers: usize, time: Duration) -> Told {
    let told = Arc::new(Mutex::new(Told::default()));
    let over = Arc::new(AtomicBool::new(false));
    let mut calling = JoinSet::new();
    for _ in 0..callers {
        let (address, key) = (address.to_owned(), key.to_owned());
        let (told, over) = (Arc::clone(&told), Arc::clone(&over));
        calling.spawn(async move {
            while !over.load(Ordering::Relaxed) {
                if call(&address, &key, &told, &over).await.is_err() {
                    told.lock().unwrap().broken += 1;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        });
    }
    tokio::time::sleep(time).await;
    over.store(true, Ordering::Relaxed);
    calling.join_all().await;
    Arc::into_inner(told).unwrap().into_inner().unwrap()
}

/// Creates one customer after another on a connection, until it ends or all is over.
async fn call(address: &str, key: &str, told: &Mutex<Told>, over: &AtomicBool) -> io::Result<()> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let body = r#"{"name":"Awa"}"#;
    let ask = format!(
        "POST /v1/customers HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    while !over.load(Ordering::Relaxed) {
        let since = Instant::now();
        stream.write_all(ask.as_bytes()).await?;
        let (status, ends) = answer(&mut stream).await?;
        let took = since.elapsed();
        {
            let mut told = told.lock().unwrap();
            match status {
                200..=299 => told.accepted.push(took),
                429 | 503 => told.refused.push(took),
                _ => return Err(io::Error::other(format!("{status}"))),
            }
        }
        if status >= 400 {
            // Half as patient as it is asked to be: whoever hammers is who this is about.
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        if ends {
            return Ok(());
        }
    }
    Ok(())
}

/// The status of an answer, read whole, and whether the connection ends with it.
async fn answer(stream: &mut BufReader<TcpStream>) -> io::Result<(u16, bool)> {
    let (mut status, mut length, mut ends) = (0, 0, false);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end().to_ascii_lowercase();
        if status == 0 {
            let code = line.split(' ').nth(1).and_then(|it| it.parse().ok());
            status = code.ok_or(io::ErrorKind::InvalidData)?;
        } else if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().map_err(io::Error::other)?;
        } else if line == "connection: close" {
            ends = true;
        } else if line.is_empty() {
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await?;
            return Ok((status, ends));
        }
    }
}
