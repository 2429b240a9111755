//! Requests of a browser, as far as one page and one socket need them.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

/// Largest head of a request, bytes.
const LARGEST: usize = 8192;

/// Most fields in the head of a request.
const FIELDS: usize = 64;

/// What a request says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// What stands behind `?`.
    pub(crate) query: String,
    pub(crate) host: String,
    pub(crate) origin: Option<String>,
    /// The key of a WebSocket's handshake.
    pub(crate) key: Option<String>,
}

/// Why a request is not answered as it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Malformed,
    TooLarge,
    Method,
    NotFound,
    Forbidden,
    Busy,
}

impl Refusal {
    fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::Malformed => ("400 Bad Request", "This is not a request of a browser.\n"),
            Self::TooLarge => ("431 Request Header Fields Too Large", "The request is too long.\n"),
            Self::Method => ("405 Method Not Allowed", "There is nothing but a page to get.\n"),
            Self::NotFound => ("404 Not Found", "There is no such page here.\n"),
            Self::Forbidden => (
                "403 Forbidden",
                "Open the address that the program printed, with its token, on this machine.\n",
            ),
            Self::Busy => ("503 Service Unavailable", "Too many pages are open.\n"),
        }
    }
}

/// Reads the head of a request.
pub(crate) fn read(stream: &mut impl Read) -> Result<Request, Refusal> {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    loop {
        match parse(&head)? {
            Some(request) => return Ok(request),
            None if head.len() >= LARGEST => return Err(Refusal::TooLarge),
            None => {}
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return Err(Refusal::Malformed),
            Ok(n) => head.extend_from_slice(&piece[..n]),
        }
    }
}

/// `None` while the head is not complete.
fn parse(head: &[u8]) -> Result<Option<Request>, Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut found = httparse::Request::new(&mut fields);
    match found.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Refusal::TooLarge),
        Err(_) => return Err(Refusal::Malformed),
    }
    if found.method != Some("GET") {
        return Err(Refusal::Method);
    }
    let field = |name: &str| {
        let mut all = found.headers.iter().filter(|h| h.name.eq_ignore_ascii_case(name));
        let first = all.next().map(|h| std::str::from_utf8(h.value).map(str::to_owned));
        match (first, all.next()) {
            (None, _) => Ok(None),
            // What stands twice may be read in two ways.
            (Some(Ok(value)), None) => Ok(Some(value)),
            _ => Err(Refusal::Malformed),
        }
    };
    let host = field("host")?.ok_or(Refusal::Malformed)?;
    let (origin, key) = (field("origin")?, field("sec-websocket-key")?);
    let target = found.path.unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok(Some(Request { path: path.into(), query: query.into(), host, origin, key }))
}

/// Answers with a page that may be shown nowhere else.
pub(crate) fn send_page(stream: &mut TcpStream, page: &str) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        page.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(page.as_bytes())?;
    stream.flush()
}

/// Answers with a file to save.
pub(crate) fn send_file(stream: &mut TcpStream, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {}\r\n\
         Content-Disposition: attachment; filename=\"{name}\"\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        bytes.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(bytes)?;
    stream.flush()
}

/// Answers that a request is refused; the browser may be gone already.
pub(crate) fn refuse(stream: &mut TcpStream, refusal: Refusal) {
    let (status, text) = refusal.text();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{text}",
        text.len()
    );
    let _ = stream.write_all(answer.as_bytes());
}

/// Answers that the connection is a WebSocket from now on.
pub(crate) fn send_upgrade(stream: &mut TcpStream, key: &str) -> std::io::Result<()> {
    let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Request, Refusal> {
        read(&mut text.as_bytes())
    }

    #[test]
    fn requests_are_read() {
        let found = of("GET /socket?token=ab HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nOrigin: \
                        http://127.0.0.1:8000\r\nSec-WebSocket-Key: xyz\r\n\r\n")
        .expect("a request");
        assert_eq!((found.path.as_str(), found.query.as_str()), ("/socket", "token=ab"));
        assert_eq!(found.origin.as_deref(), Some("http://127.0.0.1:8000"));
        assert_eq!(found.key.as_deref(), Some("xyz"));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for (text, refusal) in [
            ("", Refusal::Malformed),
            ("GET / HTTP/1.1\r\nHost: a\r\n", Refusal::Malformed),
            ("\0\0\0\0\r\n\r\n", Refusal::Malformed),
            ("GET / HTTP/1.1\r\n\r\n", Refusal::Malformed),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", Refusal::Malformed),
            ("POST / HTTP/1.1\r\nHost: a\r\n\r\n", Refusal::Method),
        ] {
            assert_eq!(of(text), Err(refusal), "{text:?}");
        }
        let long = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(2 * LARGEST));
        assert_eq!(of(&long), Err(Refusal::TooLarge));
        let many = "A: b\r\n".repeat(2 * FIELDS);
        assert_eq!(of(&format!("GET / HTTP/1.1\r\n{many}\r\n")), Err(Refusal::TooLarge));
    }

    /// Bytes from a generator: no panic, and an end.
    #[test]
    fn noise_is_refused() {
        let mut random = forks_mechanism::lie::SplitMix64::new(7);
        for _ in 0..2000 {
            let length = (random.next_u64() % 300) as usize;
            let noise: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
            assert!(read(&mut noise.as_slice()).is_err());
            let mut request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec();
            let at = (random.next_u64() % request.len() as u64) as usize;
            request[at] = random.next_u64() as u8;
            let _ = read(&mut request.as_slice());
        }
    }
}
