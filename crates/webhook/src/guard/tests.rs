use std::future::pending;

use futures_util::FutureExt;
use proptest::prelude::*;

use super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn allowed(address: &str, reach: Reach) -> bool {
    vet_address(ip(address), reach).is_ok()
}

/// A lookup that always finds these.
fn found(addresses: &[&str]) -> Lookup {
    let addresses: Vec<_> = addresses.iter().map(|text| ip(text)).collect();
    Lookup::new(move |_| std::future::ready(Ok(addresses.clone())).boxed())
}

#[test]
fn every_range_is_judged_up_to_both_its_ends() {
    for (first, last, kind) in [
        ("0.0.0.0", "0.255.255.255", Kind::Refused),
        ("10.0.0.0", "10.255.255.255", Kind::Private),
        ("100.64.0.0", "100.127.255.255", Kind::Private),
        ("100.100.100.200", "100.100.100.200", Kind::Refused),
        ("127.0.0.0", "127.255.255.255", Kind::Private),
        ("168.63.129.16", "168.63.129.16", Kind::Refused),
        ("169.254.0.0", "169.254.255.255", Kind::Refused),
        ("172.16.0.0", "172.31.255.255", Kind::Private),
        ("192.0.0.0", "192.0.0.255", Kind::Refused),
        ("192.88.99.0", "192.88.99.255", Kind::Refused),
        ("192.168.0.0", "192.168.255.255", Kind::Private),
        ("198.18.0.0", "198.19.255.255", Kind::Refused),
        ("224.0.0.0", "239.255.255.255", Kind::Refused),
        ("240.0.0.0", "255.255.255.255", Kind::Refused),
        ("::", "::", Kind::Refused),
        ("::1", "::1", Kind::Private),
        ("::2", "::fffe:ffff:ffff", Kind::Refused),
        ("::1:0:0:0", "ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Kind::Refused),
        ("64:ff9b::", "64:ff9b::ffff:ffff", Kind::Refused),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", Kind::Refused),
        ("100::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Kind::Refused),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Kind::Refused),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Kind::Refused),
        ("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Kind::Refused),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Kind::Private),
        ("fd00:ec2::254", "fd00:ec2::254", Kind::Refused),
        ("fd00:ec2::23", "fd00:ec2::23", Kind::Refused),
        ("fd00:ec3::23", "fd00:ec3::23", Kind::Private),
        ("fd00:42::42", "fd00:42::42", Kind::Refused),
        ("fd00:42::41", "fd00:42::43", Kind::Private),
        ("fd00:c1::a9fe:a9fe", "fd00:c1::a9fe:a9fe", Kind::Refused),
        ("fd00:c1::a9fe:a9fd", "fd00:c1::a9fe:a9ff", Kind::Private),
        ("fd20:ce::254", "fd20:ce::254", Kind::Refused),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Kind::Refused),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Kind::Refused),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Kind::Refused),
    ] {
        for address in [first, last] {
            assert!(!allowed(address, Reach::Public), "{address}");
            assert_eq!(allowed(address, Reach::Private), kind == Kind::Private, "{address}");
        }
    }
}

#[test]
fn just_outside_of_every_range_is_allowed() {
    for address in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2000::",
        "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:200::",
        "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2003::",
        "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ] {
        assert!(allowed(address, Reach::Public), "{address}");
        assert!(allowed(address, Reach::Private), "{address}");
    }
}

#[test]
fn a_mapped_address_is_judged_as_what_it_maps() {
    for (mapped, address) in [
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("::ffff:a9fe:a9fe", "169.254.169.254"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("::ffff:0.0.0.0", "0.0.0.0"),
        ("::ffff:255.255.255.255", "255.255.255.255"),
    ] {
        let refusal = UrlRefusal::Address { address: ip(address) };
        assert_eq!(vet_address(ip(mapped), Reach::Public), Err(refusal));
    }
    assert_eq!(vet_address(ip("::ffff:8.8.8.8"), Reach::Public), Ok(ip("8.8.8.8")));
    assert_eq!(vet_address(ip("::ffff:127.0.0.1"), Reach::Private), Ok(ip("127.0.0.1")));
    assert!(!allowed("::ffff:169.254.169.254", Reach::Private));
    assert!(!allowed("::127.0.0.1", Reach::Private), "compatible, not mapped");
    assert!(!allowed("64:ff9b::8.8.8.8", Reach::Public), "translated, wherever it leads");
    assert!(!allowed("2002:0808:0808::1", Reach::Public));
    for tunnelled in
        ["2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:8.8.8.8", "fd00::5efe:a9fe:a9fe"]
    {
        assert!(!allowed(tunnelled, Reach::Public) && !allowed(tunnelled, Reach::Private));
    }
    assert!(allowed("2606:4700::1:5efe:0:1", Reach::Public), "another identifier");
}

#[test]
fn every_spelling_of_a_forbidden_host_is_refused_as_it_is_written() {
    for host in FORBIDDEN {
        let url = format!("https://{host}/hooks");
        let answer = vet_url(&url, Reach::Public);
        assert!(
            matches!(answer, Err(UrlRefusal::Address { .. } | UrlRefusal::LocalName)),
            "{url}: {answer:?}"
        );
    }
}

#[test]
fn every_other_fault_of_a_url_has_its_reason() {
    for (url, public, private) in [
        ("https://shop.example.com/hooks?a=1", None, None),
        ("https://shop.example.com:8443", None, None),
        ("HTTPS://SHOP.example.com.", None, None),
        ("https://bücher.example/", None, None),
        ("https://8.8.8.8/", None, None),
        ("https://[2606:4700::1111]:444/", None, None),
        ("https://localhost.example.com/", None, None),
        ("https://notlocalhost/", None, None),
        ("http://shop.example.com/", Some(UrlRefusal::PlainHttp), None),
        ("https://user@shop.example.com/", Some(UrlRefusal::UserInfo), Some(UrlRefusal::UserInfo)),
        ("https://:pw@shop.example.com/", Some(UrlRefusal::UserInfo), Some(UrlRefusal::UserInfo)),
        ("https://8.8.8.8@127.0.0.1/", Some(UrlRefusal::UserInfo), Some(UrlRefusal::UserInfo)),
        ("https://shop.example.com/#a", Some(UrlRefusal::Fragment), Some(UrlRefusal::Fragment)),
        ("https://shop.example.com/#", Some(UrlRefusal::Fragment), Some(UrlRefusal::Fragment)),
    ] {
        assert_eq!(vet_url(url, Reach::Public).err(), public, "{url}");
        assert_eq!(vet_url(url, Reach::Private).err(), private, "{url}");
    }
    for url in [
        "",
        "/hooks",
        "shop.example.com/hooks",
        "//shop.example.com/hooks",
        "https://",
        "https:///",
        "https://:443/",
        "https://shop.example.com:65536/",
        "https://shop.example.com:x/",
        "https://[::1",
        "https://[fe80::1%25eth0]/",
        "https://1.2.3.4.5/",
        "https://256.1.1.1/",
        "https://0x100000000/",
        "https://a b/",
        "https://a%00b/",
        "https://a%2fb/",
        "https://xn--a/",
        "ftp://shop.example.com/",
        "file:///etc/passwd",
        "unix:/run/docker.sock",
        "gopher://shop.example.com/",
        "ws://shop.example.com/",
        "data:text/plain,hi",
        "javascript:alert(1)",
        "mailto:a@example.com",
    ] {
        for reach in [Reach::Public, Reach::Private] {
            assert_eq!(vet_url(url, reach).err(), Some(UrlRefusal::Malformed), "{url}");
        }
    }
}

#[tokio::test]
async fn a_name_is_judged_by_all_its_addresses() {
    let check = |addresses: &[&str], reach| {
        let lookup = found(addresses);
        async move { check("https://shop.example.com/", reach, &lookup).await }
    };
    let refused = |address| Err(UrlRefusal::Address { address: ip(address) });
    assert_eq!(check(&["8.8.8.8", "2606:4700::1111"], Reach::Public).await, Ok(()));
    assert_eq!(check(&["8.8.8.8", "10.0.0.1"], Reach::Public).await, refused("10.0.0.1"));
    assert_eq!(check(&["::ffff:10.0.0.1"], Reach::Public).await, refused("10.0.0.1"));
    assert_eq!(check(&["8.8.8.8", "10.0.0.1"], Reach::Private).await, Ok(()));
    assert_eq!(check(&["169.254.169.254"], Reach::Private).await, refused("169.254.169.254"));
    assert_eq!(check(&[], Reach::Public).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_name_that_does_not_resolve_or_not_soon_is_accepted() {
    let url = "https://shop.example.com/";
    let unknown =
        Lookup::new(|_| std::future::ready(Err(std::io::ErrorKind::NotFound.into())).boxed());
    assert_eq!(check(url, Reach::Public, &unknown).await, Ok(()));
    let before = tokio::time::Instant::now();
    assert_eq!(check(url, Reach::Public, &Lookup::new(|_| pending().boxed())).await, Ok(()));
    assert_eq!(before.elapsed(), CHECK_TIMEOUT);
}

#[tokio::test]
async fn what_is_written_is_judged_without_a_lookup() {
    let never = Lookup::new(|name| panic!("{name} was looked up"));
    for url in ["https://127.0.0.1/", "http://a.example/", "https://localhost/", "https://u@a/"] {
        assert!(check(url, Reach::Public, &never).await.is_err(), "{url}");
    }
    assert_eq!(check("https://8.8.8.8/", Reach::Public, &never).await, Ok(()));
}

proptest! {
    #[test]
    fn no_text_panics(text: String) {
        let _ = vet_url(&text, Reach::Public);
        let _ = vet_url(&format!("https://{text}"), Reach::Private);
    }

    #[test]
    fn an_allowed_url_of_an_address_is_the_address_it_was_judged_by(bits: u32, wide: u128) {
        for address in [IpAddr::from(Ipv4Addr::from(bits)), Ipv6Addr::from(wide).into()] {
            let host = match address {
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => format!("[{address}]"),
            };
            let judged = vet_url(&format!("https://{host}/"), Reach::Public);
            prop_assert_eq!(judged.is_ok(), vet_address(address, Reach::Public).is_ok());
        }
    }

    #[test]
    fn every_spelling_of_an_ipv4_address_is_judged_alike(bits: u32) {
        let [a, b, c, d] = bits.to_be_bytes();
        let tail = u32::from(c) << 8 | u32::from(d);
        let plain = vet_url(&format!("https://{a}.{b}.{c}.{d}/"), Reach::Public);
        for host in [
            format!("{bits}"),
            format!("{bits:#x}"),
            format!("0{bits:o}"),
            format!("{a:#x}.{b}.0{c:o}.{d}"),
            format!("{a}.{b}.{tail}"),
            format!("{a}.{b}.{c}.{d}."),
        ] {
            prop_assert_eq!(&vet_url(&format!("https://{host}/"), Reach::Public), &plain);
        }
    }
}

/// Spellings of hosts nothing may be sent to, other than in a sandbox.
pub(crate) const FORBIDDEN: &[&str] = &[
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0177.0.0.1",
    "0x7f.1",
    "0x7F.0x0.0x0.0x1",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "１２７.０.０.１",
    "127。0。0。1",
    "①②⑦.⓪.⓪.①",
    "127.255.255.254",
    "0.0.0.0",
    "0",
    "0x0",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "172.16.0.1",
    "192.0.0.1",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:169.254.169.254]",
    "[::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::127.0.0.1]",
    "[2002:7f00:1::]",
    "[2001::7f00:1]",
    "[2001:1::1]",
    "[2606:4700::5efe:127.0.0.1]",
    "192.88.99.1",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "localhost..",
    "shop.localhost",
    "shop.localhost.",
    "%6cocalhost",
    "ｌocalhost",
];
