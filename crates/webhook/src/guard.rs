//! Where a webhook may go.
//!
//! A URL comes from a stranger, and the sender sits inside the platform's network. So a URL is
//! judged twice: as it is written, and by every address its name resolves to, at the moment of
//! connecting.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    time::Duration,
};

use cauri::Environment;
use tokio::time::timeout;
use url::{Host, Url};

use crate::lookup::Lookup;

/// Which environments may send to private addresses, and over plain `http`.
///
/// By default the sandbox may, so that a laptop can receive from itself, and live may not.
///
/// # Addresses
///
/// | Address | |
/// |---|---|
/// | `10/8`, `100.64/10`, `127/8`, `172.16/12`, `192.168/16`, `::1`, `fc00::/7` | private: refused, unless private ones are allowed |
/// | `168.63.129.16`, `100.100.100.200`, `fd00:ec2::/32`, `fd00:42::42`, `fd00:c1::a9fe:a9fe`, `fd20:ce::254` | metadata services outside the link-local ranges: refused |
/// | `0/8`, `169.254/16`, `192.0.0/24`, `192.88.99/24`, `198.18/15`, `224/4`, `240/4` | refused |
/// | `2001::/23`, `2002::/16` (Teredo and 6to4 hide an IPv4 address, others are answered by the nearest router) | refused |
/// | an interface identifier of `0:5efe` or `200:5efe` (ISATAP hides an IPv4 address) | refused |
/// | all IPv6 outside `2000::/3`: `::/8`, `64:ff9b::/96`, `fe80::/10`, `ff00::/8`, … | refused |
/// | the rest: global unicast | allowed |
///
/// An IPv4 address mapped into IPv6 (`::ffff:a.b.c.d`) is judged, and connected to, as IPv4. When
/// a name has several addresses, one that is refused refuses the name.
///
/// # URLs
///
/// `https`, or `http` where private addresses are allowed; no user info, no fragment; a host. The
/// parser is the one of the URL standard, so that `http://2130706433/`, `0177.0.0.1`, `0x7f.1` and
/// `%31%32%37.0.0.1` are the addresses they stand for.
///
/// # Example
///
/// ```
/// use cauri::Environment::{Live, Sandbox};
/// use cauri_webhook::Policy;
///
/// let policy = Policy::default();
/// assert!(policy.allows_private(Sandbox) && !policy.allows_private(Live));
/// assert!(!policy.private_in_sandbox(false).allows_private(Sandbox));
/// assert!(policy.private_in_live(true).allows_private(Live));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    sandbox: bool,
    live: bool,
}

impl Policy {
    /// Says whether the sandbox may (default: it may).
    #[must_use]
    pub const fn private_in_sandbox(self, allowed: bool) -> Self {
        Self { sandbox: allowed, ..self }
    }

    /// Says whether live may (default: it may not). Only for a platform whose receivers are all
    /// its own: every tenant can then reach what this process can reach.
    #[must_use]
    pub const fn private_in_live(self, allowed: bool) -> Self {
        Self { live: allowed, ..self }
    }

    /// Whether an environment may send to private addresses. What this crate does not know may
    /// not.
    #[must_use]
    pub fn allows_private(self, environment: Environment) -> bool {
        match environment {
            Environment::Sandbox => self.sandbox,
            Environment::Live => self.live,
        }
    }

    pub(crate) fn reach(self, environment: Environment) -> Reach {
        if self.allows_private(environment) { Reach::Private } else { Reach::Public }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self { sandbox: true, live: false }
    }
}

/// Why a URL is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlRefusal {
    /// Not an absolute URL of `http` or `https` with a host.
    #[error("not an absolute http or https URL")]
    Malformed,
    /// Not encrypted, where it must be.
    #[error("plain http is not allowed here")]
    PlainHttp,
    /// It has a user or a password.
    #[error("a URL with user info is not allowed")]
    UserInfo,
    /// It has a fragment, which no request can carry.
    #[error("a URL with a fragment is not allowed")]
    Fragment,
    /// Its host names this machine.
    #[error("the host names the local machine")]
    LocalName,
    /// Its host is, or resolves to, an address that is not allowed.
    #[error("the address {address} is not allowed")]
    Address {
        /// The address, as it would have been connected to.
        address: IpAddr,
    },
}

/// Judges a URL as an attempt at this moment would: as it is written, and by what its host
/// resolves to.
///
/// A host that does not resolve within 2 s is accepted. Being accepted promises nothing about
/// later: [`HttpNotifier`](crate::HttpNotifier) judges again whenever it connects.
///
/// # Errors
///
/// An [`UrlRefusal`] says what is wrong.
///
/// ```
/// use cauri::Environment::{Live, Sandbox};
/// use cauri_webhook::{Policy, UrlRefusal, check_url};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let policy = Policy::default();
/// assert_eq!(check_url("http://127.0.0.1:3000/hooks", Sandbox, policy).await, Ok(()));
/// assert_eq!(
///     check_url("http://127.0.0.1:3000/hooks", Live, policy).await,
///     Err(UrlRefusal::PlainHttp),
/// );
/// assert_eq!(
///     check_url("https://0x7f.1/hooks", Live, policy).await,
///     Err(UrlRefusal::Address { address: [127, 0, 0, 1].into() }),
/// );
/// # }
/// ```
pub async fn check_url(
    url: &str,
    environment: Environment,
    policy: Policy,
) -> Result<(), UrlRefusal> {
    check(url, policy.reach(environment), &Lookup::of_checks()).await
}

pub(crate) async fn check(url: &str, reach: Reach, lookup: &Lookup) -> Result<(), UrlRefusal> {
    let url = vet_url(url, reach)?;
    let Some(Host::Domain(name)) = url.host() else { return Ok(()) };
    match timeout(CHECK_TIMEOUT, lookup.addresses(name)).await {
        Ok(Ok(addresses)) => vet_all(&addresses, reach).map(drop),
        Ok(Err(_)) | Err(_) => Ok(()),
    }
}

/// How far an environment may reach.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reach {
    /// Global unicast addresses, over `https`.
    Public,
    /// Private addresses and `http` too.
    Private,
}

/// Judges a URL as it is written.
pub(crate) fn vet_url(text: &str, reach: Reach) -> Result<Url, UrlRefusal> {
    let url = Url::parse(text).map_err(|_| UrlRefusal::Malformed)?;
    match (url.scheme(), reach) {
        ("https", _) | ("http", Reach::Private) => {}
        ("http", Reach::Public) => return Err(UrlRefusal::PlainHttp),
        _ => return Err(UrlRefusal::Malformed),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlRefusal::UserInfo);
    }
    if url.fragment().is_some() {
        return Err(UrlRefusal::Fragment);
    }
    match url.host() {
        Some(Host::Domain("")) | None => return Err(UrlRefusal::Malformed),
        Some(Host::Domain(name)) if reach == Reach::Public && is_local_name(name) => {
            return Err(UrlRefusal::LocalName);
        }
        Some(Host::Domain(_)) => {}
        Some(Host::Ipv4(address)) => drop(vet_address(address.into(), reach)?),
        Some(Host::Ipv6(address)) => drop(vet_address(address.into(), reach)?),
    }
    Ok(url)
}

/// Judges every address of a name, answering them as they are to be connected to.
pub(crate) fn vet_all(addresses: &[IpAddr], reach: Reach) -> Result<Vec<IpAddr>, UrlRefusal> {
    addresses.iter().map(|address| vet_address(*address, reach)).collect()
}

fn vet_address(address: IpAddr, reach: Reach) -> Result<IpAddr, UrlRefusal> {
    let address = address.to_canonical();
    match (kind(address), reach) {
        (Kind::Global, _) | (Kind::Private, Reach::Private) => Ok(address),
        (Kind::Private, Reach::Public) | (Kind::Refused, _) => Err(UrlRefusal::Address { address }),
    }
}

/// `localhost` and all below it never leave the machine, whatever a resolver says about them.
fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

fn kind(address: IpAddr) -> Kind {
    match address {
        IpAddr::V4(address) => {
            let within = |(net, bits, _): &&(Ipv4Addr, u32, Kind)| {
                (address.to_bits() ^ net.to_bits()).leading_zeros() >= *bits
            };
            V4.iter().find(within).map_or(Kind::Global, |(_, _, kind)| *kind)
        }
        IpAddr::V6(address) if is_isatap(address) => Kind::Refused,
        IpAddr::V6(address) => {
            let within = |(net, bits, _): &&(Ipv6Addr, u32, Kind)| {
                (address.to_bits() ^ net.to_bits()).leading_zeros() >= *bits
            };
            V6.iter().find(within).map_or(Kind::Refused, |(_, _, kind)| *kind)
        }
    }
}

/// A tunnel whose other end is the IPv4 address in the last four bytes (RFC 5214), in any network.
const fn is_isatap(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [_, _, _, _, 0 | 0x200, 0x5efe, _, _])
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Global,
    Private,
    Refused,
}

const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// The first that fits counts; what fits none is global.
const V4: [(Ipv4Addr, u32, Kind); 14] = [
    (Ipv4Addr::new(100, 100, 100, 200), 32, Kind::Refused),
    (Ipv4Addr::new(168, 63, 129, 16), 32, Kind::Refused),
    (Ipv4Addr::new(0, 0, 0, 0), 8, Kind::Refused),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Kind::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Kind::Private),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Kind::Private),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Kind::Refused),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Kind::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Kind::Refused),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Kind::Refused),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Kind::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Kind::Refused),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Kind::Refused),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Kind::Refused),
];

/// The first that fits counts; what fits none is refused.
const V6: [(Ipv6Addr, u32, Kind); 9] = [
    (Ipv6Addr::LOCALHOST, 128, Kind::Private),
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0), 32, Kind::Refused),
    (Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42), 128, Kind::Refused),
    (Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe), 128, Kind::Refused),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128, Kind::Refused),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Kind::Private),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Kind::Refused),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, Kind::Refused),
    (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, Kind::Global),
];

#[cfg(test)]
pub(crate) mod tests;
