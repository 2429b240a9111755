//! The server: who may connect, and what they get.

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{
    ViewError, ViewOptions,
    command::Command,
    http::{self, Refusal, Request},
    hub::Hub,
    session, socket,
    source::Source,
};

/// Pages that may be open at the same time.
const PAGES: usize = 16;

/// How long a browser may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(5);

/// A mechanism that is shown, until this goes.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    token: String,
    hub: Arc<Hub>,
    stop: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
    session: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts the mechanism and the server.
    ///
    /// # Errors
    /// A port that cannot be opened, a step that is not above 0, a model that cannot be moved or
    /// drawn.
    pub fn start(source: Source, options: &ViewOptions) -> Result<Self, ViewError> {
        let step = options.step;
        if !(step > 0.0 && step <= 1.0) {
            let range = "above 0 and at most 1 s";
            return Err(ViewError::OutOfRange { quantity: "the step", value: step, range });
        }
        let at = SocketAddr::new(options.interface, options.port);
        let listen = |source| ViewError::Listen { address: at.to_string(), source };
        let listener = TcpListener::bind(at).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let token = token()?;
        let hub = Arc::new(Hub::default());
        let (commands, received) = mpsc::channel();
        let session = session::start(source, options, Arc::clone(&hub), received)?;
        let stop = Arc::new(AtomicBool::new(false));
        let door = Door {
            address,
            token: token.clone(),
            hub: Arc::clone(&hub),
            commands,
            pages: Arc::default(),
        };
        let listening = {
            let stop = Arc::clone(&stop);
            thread::spawn(move || door.listen(&listener, &stop))
        };
        let (listener, session) = (Some(listening), Some(session));
        Ok(Self { address, token, hub, stop, listener, session })
    }

    /// The address to open, token included.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.token)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until the session ends, which it does by itself only if its thread panics.
    pub fn wait(mut self) {
        if let Some(session) = self.session.take() {
            let _ = session.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.hub.close();
        // The listener wakes up for one more connection.
        let _ = TcpStream::connect_timeout(&self.address, PATIENCE);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
        if let Some(session) = self.session.take() {
            let _ = session.join();
        }
    }
}

/// 128 random bits.
fn token() -> Result<String, ViewError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| ViewError::NoToken(e.to_string()))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// Equal after a time that does not tell where they differ.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |d, (x, y)| d | (x ^ y)) == 0
}

/// What a connection meets.
#[derive(Clone)]
struct Door {
    address: SocketAddr,
    token: String,
    hub: Arc<Hub>,
    commands: Sender<Command>,
    pages: Arc<AtomicUsize>,
}

impl Door {
    fn listen(&self, listener: &TcpListener, stop: &AtomicBool) {
        for stream in listener.incoming() {
            if stop.load(Ordering::SeqCst) {
                return;
            }
            let Ok(mut stream) = stream else { continue };
            if self.pages.fetch_add(1, Ordering::SeqCst) >= 2 * PAGES {
                self.pages.fetch_sub(1, Ordering::SeqCst);
                http::refuse(&mut stream, Refusal::Busy);
                continue;
            }
            let door = self.clone();
            thread::spawn(move || {
                door.answer(stream);
                door.pages.fetch_sub(1, Ordering::SeqCst);
            });
        }
    }

    fn answer(&self, mut stream: TcpStream) {
        let _ = stream.set_read_timeout(Some(PATIENCE));
        let _ = stream.set_write_timeout(Some(PATIENCE));
        let request = match http::read(&mut stream).and_then(|r| self.check(&r).map(|()| r)) {
            Ok(request) => request,
            Err(refusal) => return http::refuse(&mut stream, refusal),
        };
        match (request.path.as_str(), &request.key) {
            ("/", _) => {
                let page = self.hub.page();
                let _ = http::send_page(&mut stream, &page);
            }
            ("/socket", Some(key)) => {
                if http::send_upgrade(&mut stream, key).is_ok() {
                    socket::serve(stream, &self.hub, &self.commands);
                }
            }
            (path, _) if path.starts_with("/model/") => {
                match self.hub.model(&path["/model/".len()..]) {
                    Some(bytes) => {
                        let name = format!("{}.forks", &path["/model/".len()..]);
                        let _ = http::send_file(&mut stream, &name, &bytes);
                    }
                    None => http::refuse(&mut stream, Refusal::NotFound),
                }
            }
            ("/socket", None) => http::refuse(&mut stream, Refusal::Malformed),
            _ => http::refuse(&mut stream, Refusal::NotFound),
        }
    }

    /// The token has to be there; names that lead here from elsewhere, and pages of others, have
    /// no business here.
    fn check(&self, request: &Request) -> Result<(), Refusal> {
        if !self.is_ours(&request.host) {
            return Err(Refusal::Forbidden);
        }
        let known = match &request.origin {
            Some(origin) => origin.strip_prefix("http://").is_some_and(|host| self.is_ours(host)),
            // A browser says where a socket is opened from.
            None => request.path != "/socket",
        };
        let token = request.query.split('&').find_map(|p| p.strip_prefix("token="));
        match known && token.is_some_and(|t| same(t, &self.token)) {
            true => Ok(()),
            false => Err(Refusal::Forbidden),
        }
    }

    fn is_ours(&self, host: &str) -> bool {
        let port = self.address.port();
        let local = self.address.ip().is_loopback() && host == format!("localhost:{port}");
        // On all interfaces any of the machine's addresses may stand there; the token decides.
        let any = self.address.ip().is_unspecified()
            && host.parse::<SocketAddr>().is_ok_and(|a| a.port() == port);
        local || any || host == self.address.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_are_compared_whole() {
        let (a, b) = (token().expect("random"), token().expect("random"));
        assert!(a.len() == 32 && !same(&a, &b) && same(&a, &a.clone()) && !same(&a, &a[..31]));
    }
}
