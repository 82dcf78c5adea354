//! The receivers of `docs/receivers.md`, run as they are written there, against real deliveries.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::http::{Http, Request};
use crate::support::server::Store;
use crate::support::shop::{Shop, path_of};
use crate::support::time::{soon, unix_seconds};
use crate::support::{signature, stories};

stories![node_verifies_deliveries, python_verifies_deliveries];

const PAGE: &str = include_str!("../../../../docs/receivers.md");

/// What is written around a function of the page: an HTTP receiver that says where it listens, and
/// takes what is signed with the secret that lies in a file at that moment.
struct Language {
    fence: &'static str,
    program: &'static str,
    package: &'static str,
    server: &'static str,
}

const NODE: Language = Language {
    fence: "```js\n",
    program: "node",
    package: "nodejs",
    server: r#"
const server = require("node:http").createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const secret = require("node:fs").readFileSync(process.argv[2], "utf8");
    const genuine = verify(Buffer.concat(chunks), request.headers["x-webhook-signature"], secret);
    response.writeHead(genuine ? 204 : 400).end();
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
"#,
};

const PYTHON: Language = Language {
    fence: "```python\n",
    program: "python3",
    package: "python3",
    server: r#"
import http.server, sys

class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(sys.argv[1]) as file:
            secret = file.read()
        genuine = verify(body, self.headers.get("X-Webhook-Signature", ""), secret)
        self.send_response(204 if genuine else 400)
        self.end_headers()

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
"#,
};

struct Receiver {
    process: Child,
    url: String,
    dir: TempDir,
}

impl Receiver {
    fn start(language: &Language) -> Self {
        let (_, rest) = PAGE.split_once(language.fence).expect("the page has this language");
        let (function, _) = rest.split_once("```").expect("the end of the code");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("receiver");
        fs::write(&file, format!("{function}{}", language.server)).unwrap();
        let secret = dir.path().join("secret");
        fs::write(&secret, "whsec_none").unwrap();
        let Language { program, package, .. } = language;
        let mut process = Command::new(program)
            .args([&file, &secret])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "{program} could not be started ({error}); docs/receivers.md is tested with \
                     it: install Debian's package {package}, as `cargo xtask test` does"
                )
            });
        let mut port = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut port).unwrap();
        let port: u16 = port.trim().parse().expect("the receiver says its port");
        Self { process, url: format!("http://127.0.0.1:{port}"), dir }
    }

    fn trusts(&self, secret: &str) {
        fs::write(self.dir.path().join("secret"), secret).unwrap();
    }

    /// What it answers to this body under this header.
    fn answers(&self, body: &[u8], header: &str) -> u16 {
        let (method, path) = ("POST".to_owned(), "/".to_owned());
        let headers = vec![
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("X-Webhook-Signature".to_owned(), header.to_owned()),
        ];
        let request = Request { method, path, headers, body: body.to_vec() };
        Http::at(&self.url).send(&request).unwrap().status
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn node_verifies_deliveries(store: &Store) {
    verifies(&NODE, &store.shop());
}

fn python_verifies_deliveries(store: &Store) {
    verifies(&PYTHON, &store.shop());
}

fn verifies(language: &Language, shop: &Shop) {
    let receiver = Receiver::start(language);
    let endpoint = shop.hook(&receiver.url, &["*"]);
    let secret = endpoint["secret"].as_str().unwrap();
    receiver.trusts(secret);
    let test = |kind: &str| {
        let body = json!({"webhook_endpoint": endpoint["id"], "event_type": kind});
        shop.post("/v1/webhooks/test", &body).ok(202)["id"].clone()
    };
    let attempted = |delivery: &Value| {
        soon(|| {
            let all = shop.list("/v1/webhooks/deliveries");
            let found = all.into_iter().find(|it| it["id"] == *delivery).unwrap();
            if found["attempts_count"] == 0 { Err(found.to_string()) } else { Ok(found) }
        })
    };
    assert_eq!(attempted(&test("payment.succeeded"))["status"], "succeeded");
    // During a rotation both secrets verify.
    let rotate = json!({"rotate_secret": true, "previous_secret_expires_in": 60});
    let rotated = shop.post(&path_of(&endpoint["id"]), &rotate).ok(200);
    assert_eq!(attempted(&test("payout.failed"))["status"], "succeeded", "with the old secret");
    receiver.trusts(rotated["secret"].as_str().unwrap());
    assert_eq!(attempted(&test("refund.created"))["status"], "succeeded", "with the new one");
    receiver.trusts("whsec_another");
    let refused = attempted(&test("refund.failed"));
    assert_eq!((&refused["http_status"], &refused["error"]), (&json!(400), &json!("non_2xx")));

    receiver.trusts(secret);
    let body = "{\"name\":\"é\"}".as_bytes();
    let now = unix_seconds();
    let sign = |time: &str| signature::sign(secret, time, body);
    let (t, old, next) = (now.to_string(), (now - 310).to_string(), (now + 320).to_string());
    let v1 = sign(&t);
    let other = signature::sign("whsec_another", &t, body);
    for genuine in [
        format!("t={t},v1={v1}"),
        format!("v1={v1} , t={t}"),
        format!("t={t},v1={other},v1={v1},v0=x,y"),
    ] {
        assert_eq!(receiver.answers(body, &genuine), 204, "{genuine}");
    }
    for forged in [
        String::new(),
        "t=,v1=".to_owned(),
        format!("t={t}"),
        format!("v1={v1}"),
        format!("t={t},v1={other}"),
        format!("t={t},v1={}", v1.to_uppercase()),
        format!("t={t},v1={}", &v1[1..]),
        format!("t={t},t={t},v1={v1}"),
        format!("t=0{t},v1={}", sign(&format!("0{t}"))),
        format!("t={old},v1={}", sign(&old)),
        format!("t={next},v1={}", sign(&next)),
    ] {
        assert_eq!(receiver.answers(body, &forged), 400, "{forged}");
    }
    assert_eq!(receiver.answers(b"{}", &format!("t={t},v1={v1}")), 400, "another body");
}
