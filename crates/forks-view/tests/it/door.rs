//! Who gets in: tokens, origins, hosts, sizes.

use forks_mechanism::lie::SplitMix64;
use tungstenite::Message;

use super::support::{Page, ask, server, token};

#[test]
fn the_page_needs_the_token_and_this_host() {
    let server = server();
    let (address, token) = (server.address(), token(&server));
    let get = |target: &str, host: &str, more: &str| {
        let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n");
        ask(&server, &request)
    };
    let host = address.to_string();
    let good = get(&format!("/?token={token}"), &host, "");
    assert!(good.starts_with("HTTP/1.1 200") && good.contains("forks-animation"));
    assert!(good.contains("connect-src 'self'") && good.contains("X-Frame-Options: DENY"));
    let local = format!("localhost:{}", address.port());
    assert!(get(&format!("/?token={token}"), &local, "").starts_with("HTTP/1.1 200"));
    let wrong = "0".repeat(32);
    for (target, host, more) in [
        ("/".to_owned(), host.clone(), ""),
        (format!("/?token={wrong}"), host.clone(), ""),
        (format!("/?token={}", &token[..31]), host.clone(), ""),
        // A name of somebody else's that leads here.
        (format!("/?token={token}"), "evil.example:80".into(), ""),
        (format!("/?token={token}"), host.clone(), "Origin: http://evil.example\r\n"),
        (format!("/?token={token}"), host.clone(), "Origin: null\r\n"),
    ] {
        let answer = get(&target, &host, more);
        assert!(answer.starts_with("HTTP/1.1 403"), "{target} {host} {more}: {answer}");
    }
    assert!(get(&format!("/x?token={token}"), &host, "").starts_with("HTTP/1.1 404"));
    assert!(ask(&server, "POST / HTTP/1.1\r\nHost: a\r\n\r\n").starts_with("HTTP/1.1 405"));
    let long = "x".repeat(20_000);
    let answer = get(&format!("/?token={token}"), &host, &format!("A: {long}\r\n"));
    assert!(answer.starts_with("HTTP/1.1 431") || answer.is_empty(), "{answer}");
}

#[test]
fn sockets_come_from_the_page_alone() {
    let server = server();
    let (origin, token) = (format!("http://{}", server.address()), token(&server));
    assert!(Page::from(&server, &origin, &token).is_ok());
    for (origin, token) in [
        ("http://evil.example", token.as_str()),
        ("null", &token),
        (&origin.replace("http", "https"), &token),
        (&origin, "no"),
        (&origin, ""),
    ] {
        assert!(Page::from(&server, origin, token).is_err(), "{origin} {token}");
    }
    // Without an origin, as other programs are.
    let request = format!(
        "GET /socket?token={token} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: \
         Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         \r\n",
        server.address()
    );
    assert!(ask(&server, &request).starts_with("HTTP/1.1 403"));
}

#[test]
fn what_is_no_command_is_answered_and_what_is_too_long_ends_the_socket() {
    let server = server();
    let mut page = Page::open(&server);
    let mut random = SplitMix64::new(3);
    for k in 0..200 {
        let length = (random.next_u64() % 200) as usize;
        let noise: String =
            (0..length).map(|_| char::from(32 + (random.next_u64() % 95) as u8)).collect();
        page.send(&format!("{k}{noise}"));
    }
    assert!(page.hear("problem")["text"].as_str().is_some_and(|t| t.contains("not a command")));
    let bytes: Vec<u8> = (0..300).map(|_| random.next_u64() as u8).collect();
    page.socket.send(Message::Binary(bytes.into())).expect("sent");
    // It still works.
    page.send(r#"{"type":"step","count":3}"#);
    assert_eq!(page.frame_at(0.006).poses.len(), 2);
    let _ = page.socket.send(Message::Text("x".repeat(1 << 20).into()));
    let ended = (0..10_000).any(|_| page.socket.read().is_err());
    assert!(ended, "the socket is closed");
    // And the server goes on.
    let mut next = Page::open(&server);
    next.send(r#"{"type":"step","count":1}"#);
    assert_eq!(next.frame_at(0.008).poses.len(), 2);
}

#[test]
fn random_bytes_do_no_harm() {
    let server = server();
    let mut random = SplitMix64::new(11);
    for _ in 0..100 {
        let length = 1 + (random.next_u64() % 2000) as usize;
        let noise: String =
            (0..length).map(|_| char::from((random.next_u64() % 128) as u8)).collect();
        let answer = ask(&server, &format!("{noise}\r\n\r\n"));
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let mut page = Page::open(&server);
    page.send(r#"{"type":"step","count":1}"#);
    assert_eq!(page.frame_at(0.002).poses.len(), 2);
}
