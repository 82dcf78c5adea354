//! Signed messages (RFC 9421), as far as the aggregator uses them: ECDSA on P-256 over method,
//! authority, path and some headers, among them a digest of the body (RFC 9530).
//!
//! What is not exactly as expected is refused: a signature that covers less, that is old, that names
//! another algorithm or a key nobody has told us of.

use std::{collections::BTreeMap, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use cauri::Timestamp;
use http::{HeaderMap, HeaderName, HeaderValue};
use ring::{
    digest::{SHA256, SHA512, digest},
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING,
        EcdsaKeyPair, KeyPair, UnparsedPublicKey,
    },
};

/// How far the clocks of the two sides may be apart, in seconds.
const LEEWAY_S: i64 = 60;

/// For how long a signature holds, in seconds.
const VALID_S: i64 = 60;

/// How old a signature may be that does not say until when it holds, in seconds.
const AGE_MAX_S: i64 = 300;

/// What a signature must cover, whatever else it does.
const COVERED: [&str; 4] = ["@method", "@authority", "@path", "content-digest"];

const ALGORITHM: &str = "ecdsa-p256-sha256";

/// What precedes the point in a P-256 public key (`SubjectPublicKeyInfo`, DER).
const SPKI: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// Why a message is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// A header is not there, or there twice.
    #[error("the header {0} is not there once")]
    Header(&'static str),
    /// A header is not of the form that is expected.
    #[error("the header {0} cannot be read")]
    Malformed(&'static str),
    /// The body is another one than the digest says.
    #[error("the digest is of another body")]
    Digest,
    /// Something that must be signed is not.
    #[error("{0} is not signed")]
    NotCovered(&'static str),
    /// Signed in another way.
    #[error("another algorithm")]
    Algorithm,
    /// Signed with a key that is not known.
    #[error("a key that is not known")]
    Key,
    /// Signed too long ago, or in the future.
    #[error("too old, or from the future")]
    Age,
    /// The signature is not that of this message.
    #[error("not the signature of this message")]
    Signature,
}

/// A text that is not a P-256 public key in PEM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a P-256 public key in PEM")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct KeyError;

/// A message, as far as it can be signed.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "hosts write it as a literal")]
pub struct Message<'a> {
    /// Such as `POST`.
    pub method: &'a str,
    /// The host that was asked, as its sender knows it, in lower case and without a default port.
    pub authority: &'a str,
    /// The path, without a query.
    pub path: &'a str,
    /// All headers.
    pub headers: &'a HeaderMap,
    /// The body, as it arrived.
    pub body: &'a [u8],
}

/// The keys of the other side, by their ids.
#[derive(Debug, Clone, Default)]
pub struct Keys(BTreeMap<String, Vec<u8>>);

impl Keys {
    /// The same with one more key, in PEM.
    ///
    /// # Errors
    /// [`KeyError`] when it is no P-256 public key.
    pub fn with(mut self, id: impl Into<String>, pem: &str) -> Result<Self, KeyError> {
        let lines = pem.trim().lines();
        let base64: String = lines.filter(|line| !line.starts_with("-----")).collect();
        let der = BASE64.decode(base64.trim()).map_err(|_| KeyError)?;
        let point = der.strip_prefix(&SPKI[..]).ok_or(KeyError)?;
        if point.len() != 65 || point.first() != Some(&4) {
            return Err(KeyError);
        }
        self.0.insert(id.into(), point.to_vec());
        Ok(self)
    }

    /// Is a message signed with one of these keys, as it is, and lately?
    ///
    /// # Errors
    /// [`SignatureError`], the first that is found.
    pub fn verify(&self, message: &Message<'_>, now: Timestamp) -> Result<(), SignatureError> {
        check_digest(message)?;
        let input = Input::read(header(message, "signature-input")?)?;
        for name in COVERED {
            if !input.components.contains(&name) {
                return Err(SignatureError::NotCovered(name));
            }
        }
        if input.algorithm != ALGORITHM {
            return Err(SignatureError::Algorithm);
        }
        check_age(&input, now)?;
        let point = self.0.get(input.key).ok_or(SignatureError::Key)?;
        let signature = signature(header(message, "signature")?, input.label)?;
        let base = base(message, &input.components, input.parameters)?;
        // The standard wants both numbers one after the other; the aggregator's examples are DER.
        let key = match signature.len() {
            64 => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point),
            _ => UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point),
        };
        key.verify(base.as_bytes(), &signature).map_err(|_| SignatureError::Signature)
    }
}

/// Signs messages.
pub struct Signer {
    id: String,
    pair: EcdsaKeyPair,
    random: SystemRandom,
}

impl Signer {
    /// A new key.
    ///
    /// # Errors
    /// [`KeyError`] when the machine has no random bytes.
    pub fn generate(id: impl Into<String>) -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        Self::from_pkcs8(id, document.map_err(|_| KeyError)?.as_ref())
    }

    /// A key that was made before (PKCS #8, DER).
    ///
    /// # Errors
    /// [`KeyError`] when it is no P-256 key.
    pub fn from_pkcs8(id: impl Into<String>, der: &[u8]) -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random);
        Ok(Self { id: id.into(), pair: pair.map_err(|_| KeyError)?, random })
    }

    /// By which it is known.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What others verify with, in PEM.
    #[must_use]
    pub fn public_key(&self) -> String {
        let der = [&SPKI[..], self.pair.public_key().as_ref()].concat();
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", BASE64.encode(der))
    }

    /// The headers of a message with a signature added: the digest, and what is signed.
    ///
    /// # Errors
    /// [`SignatureError`] when what is to be signed cannot be written into headers.
    pub fn sign(&self, message: &Message<'_>, now: Timestamp) -> Result<HeaderMap, SignatureError> {
        let created = now.millis().div_euclid(1_000);
        let digest = BASE64.encode(digest(&SHA512, message.body));
        let mut headers = message.headers.clone();
        insert(&mut headers, "content-digest", &format!("sha-512=:{digest}:"))?;
        insert(&mut headers, "signature-date", &now.to_string())?;
        let mut components = COVERED.to_vec();
        components.push("signature-date");
        if headers.contains_key("content-type") {
            components.push("content-type");
        }
        let quoted: Vec<String> = components.iter().map(|name| format!("\"{name}\"")).collect();
        let parameters = format!(
            "({});alg=\"{ALGORITHM}\";keyid=\"{}\";created={created};expires={}",
            quoted.join(" "),
            self.id,
            created.saturating_add(VALID_S),
        );
        let signed = Message { headers: &headers, ..*message };
        let base = base(&signed, &components, &parameters)?;
        let signature = self.pair.sign(&self.random, base.as_bytes());
        let signature = BASE64.encode(signature.map_err(|_| SignatureError::Signature)?);
        insert(&mut headers, "signature-input", &format!("sig-pp={parameters}"))?;
        insert(&mut headers, "signature", &format!("sig-pp=:{signature}:"))?;
        Ok(headers)
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("id", &self.id).finish_non_exhaustive()
    }
}

fn insert(headers: &mut HeaderMap, name: &'static str, value: &str) -> Result<(), SignatureError> {
    let value = HeaderValue::try_from(value).map_err(|_| SignatureError::Malformed(name))?;
    headers.insert(HeaderName::from_static(name), value);
    Ok(())
}

/// A header that must be there once.
fn header<'a>(message: &Message<'a>, name: &'static str) -> Result<&'a str, SignatureError> {
    let mut values = message.headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().map_err(|_| SignatureError::Malformed(name)),
        _ => Err(SignatureError::Header(name)),
    }
}

/// The digest must be of this body: every one that we understand, and one at least.
fn check_digest(message: &Message<'_>) -> Result<(), SignatureError> {
    const NAME: &str = "content-digest";
    let mut checked = false;
    for member in header(message, NAME)?.split(',') {
        let (algorithm, value) =
            member.trim().split_once('=').ok_or(SignatureError::Malformed(NAME))?;
        let hash = match algorithm {
            "sha-256" => digest(&SHA256, message.body),
            "sha-512" => digest(&SHA512, message.body),
            _ => continue,
        };
        if bytes(value).ok_or(SignatureError::Malformed(NAME))? != hash.as_ref() {
            return Err(SignatureError::Digest);
        }
        checked = true;
    }
    if checked { Ok(()) } else { Err(SignatureError::Digest) }
}

fn check_age(input: &Input<'_>, now: Timestamp) -> Result<(), SignatureError> {
    let now = now.millis().div_euclid(1_000);
    let expires = input.expires.unwrap_or_else(|| input.created.saturating_add(AGE_MAX_S));
    let begun = input.created <= now.saturating_add(LEEWAY_S);
    let over = expires < now.saturating_sub(LEEWAY_S);
    // Nor for ever, whatever it says of itself.
    let forever = expires > input.created.saturating_add(AGE_MAX_S);
    if begun && !over && !forever { Ok(()) } else { Err(SignatureError::Age) }
}

/// A byte sequence of a structured field: `:aGVsbG8=:`.
fn bytes(value: &str) -> Option<Vec<u8>> {
    BASE64.decode(value.strip_prefix(':')?.strip_suffix(':')?).ok()
}

/// The signature of this label, the only one there.
fn signature(value: &str, label: &str) -> Result<Vec<u8>, SignatureError> {
    let (named, value) = value.split_once('=').ok_or(SignatureError::Malformed("signature"))?;
    if named.trim() != label {
        return Err(SignatureError::Malformed("signature"));
    }
    bytes(value.trim()).ok_or(SignatureError::Malformed("signature"))
}

/// What a signature says of itself.
#[derive(Debug)]
struct Input<'a> {
    label: &'a str,
    components: Vec<&'a str>,
    /// As they were sent, which is how they are signed.
    parameters: &'a str,
    algorithm: &'a str,
    key: &'a str,
    created: i64,
    expires: Option<i64>,
}

impl<'a> Input<'a> {
    /// Reads `label=("one" "two");name="value";other=1`, one signature and nothing else.
    fn read(value: &'a str) -> Result<Self, SignatureError> {
        Self::parse(value).ok_or(SignatureError::Malformed("signature-input"))
    }

    fn parse(value: &'a str) -> Option<Self> {
        let (label, parameters) = value.trim().split_once('=')?;
        let (list, rest) = parameters.strip_prefix('(')?.split_once(')')?;
        let mut components: Vec<&str> = Vec::new();
        for item in list.split(' ').filter(|item| !item.is_empty()) {
            let name = item.strip_prefix('"')?.strip_suffix('"')?;
            let plain = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'@');
            if name.is_empty() || !name.bytes().all(plain) || components.contains(&name) {
                return None;
            }
            components.push(name);
        }
        let (mut algorithm, mut key, mut created, mut expires) = (None, None, None, None);
        for parameter in rest.split(';').skip(1) {
            let (name, value) = parameter.split_once('=')?;
            let text = || {
                let text = value.strip_prefix('"')?.strip_suffix('"')?;
                (!text.contains(['"', '\\'])).then_some(text)
            };
            let twice = match name.trim() {
                "alg" => algorithm.replace(text()?).is_some(),
                "keyid" => key.replace(text()?).is_some(),
                "created" => created.replace(value.parse().ok()?).is_some(),
                "expires" => expires.replace(value.parse().ok()?).is_some(),
                "nonce" | "tag" => text().is_none(),
                _ => true,
            };
            if twice {
                return None;
            }
        }
        if !(rest.is_empty() || rest.starts_with(';')) {
            return None;
        }
        let (algorithm, key, created) = (algorithm?, key?, created?);
        Some(Self { label, components, parameters, algorithm, key, created, expires })
    }
}

/// What is signed: a line for each component, and one for how it is signed.
fn base(
    message: &Message<'_>,
    components: &[&str],
    parameters: &str,
) -> Result<String, SignatureError> {
    let mut lines = Vec::with_capacity(components.len().saturating_add(1));
    for name in components {
        let value = match *name {
            "@method" => message.method.to_owned(),
            "@authority" => message.authority.to_owned(),
            "@path" => message.path.to_owned(),
            derived if derived.starts_with('@') => {
                return Err(SignatureError::Malformed("signature-input"));
            }
            name => values(message.headers, name)?,
        };
        lines.push(format!("\"{name}\": {value}"));
    }
    lines.push(format!("\"@signature-params\": {parameters}"));
    Ok(lines.join("\n"))
}

/// All values of a header, as they are signed.
fn values(headers: &HeaderMap, name: &str) -> Result<String, SignatureError> {
    let malformed = |_| SignatureError::Malformed("signature-input");
    let values = headers.get_all(name).iter().map(|value| value.to_str().map(str::trim));
    let values: Vec<&str> = values.collect::<Result<_, _>>().map_err(malformed)?;
    if values.is_empty() {
        return Err(SignatureError::Malformed("signature-input"));
    }
    Ok(values.join(", "))
}

#[cfg(test)]
mod tests;
