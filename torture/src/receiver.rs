//! Where the webhooks go, and what it was told.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::http::{header, read_body, read_head};
use crate::time;

/// One delivery.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) body: Vec<u8>,
    signature: String,
    at: u64,
}

/// Takes whatever comes, and keeps it by its path.
#[derive(Debug)]
pub(crate) struct Receiver {
    address: SocketAddr,
    log: Arc<Mutex<HashMap<String, Vec<Hit>>>>,
}

impl Receiver {
    pub(crate) fn open() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let receiver = Self { address: listener.local_addr()?, log: Arc::default() };
        let log = Arc::clone(&receiver.log);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let log = Arc::clone(&log);
                // A server that is killed breaks off in the middle, which is no news here.
                thread::spawn(move || serve(stream, &log));
            }
        });
        Ok(receiver)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn told(&self, path: &str) -> Vec<Hit> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.get(path).cloned().unwrap_or_default()
    }
}

fn serve(stream: TcpStream, log: &Mutex<HashMap<String, Vec<Hit>>>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some((first, headers)) = read_head(&mut stream)? {
        let body = read_body(&mut stream, &headers)?;
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let signature = header(&headers, "x-webhook-signature").unwrap_or_default().to_owned();
        let hit = Hit { body, signature, at: time::unix_seconds() };
        log.lock().unwrap_or_else(PoisonError::into_inner).entry(path).or_default().push(hit);
        stream.get_mut().write_all(b"HTTP/1.1 204 No Content\r\n\r\n")?;
    }
    Ok(())
}

impl Hit {
    /// Written from the contract, not with the library that is under test.
    pub(crate) fn is_signed_by(&self, secret: &str) -> bool {
        let Some((time, signature)) =
            self.signature.strip_prefix("t=").and_then(|rest| rest.split_once(",v1="))
        else {
            return false;
        };
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return false };
        mac.update(time.as_bytes());
        mac.update(b".");
        mac.update(&self.body);
        let ours = mac.finalize().into_bytes();
        let ours: String = ours.iter().map(|byte| format!("{byte:02x}")).collect();
        let recent = time.parse::<u64>().is_ok_and(|time| time.abs_diff(self.at) <= 300);
        recent && ours == signature
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contracts_own_example_is_accepted_and_nothing_else() {
        let body = br#"{"id":"evt_01jd3w8k5000000000000000a1","type":"payment.succeeded"}"#;
        let v1 = "7ae203e9a1b70f471f77821b7aeb5d5ba5062ecab0908885f3eea20111d05b2c";
        let signature = format!("t=1731974400,v1={v1}");
        let hit = Hit { body: body.to_vec(), signature, at: 1_731_974_700 };
        let secret = "whsec_test_0123456789abcdefghijklmnopqrstuv";
        assert!(hit.is_signed_by(secret));
        assert!(!hit.is_signed_by("whsec_test"));
        assert!(!Hit { at: 1_731_974_701, ..hit.clone() }.is_signed_by(secret));
        assert!(!Hit { body: b"{}".to_vec(), ..hit.clone() }.is_signed_by(secret));
        assert!(!Hit { signature: String::new(), ..hit }.is_signed_by(secret));
    }
}
