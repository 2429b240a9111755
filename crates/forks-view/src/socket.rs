//! A page's socket: commands in, frames and messages out, each on a thread of its own.

use std::{
    net::TcpStream,
    sync::{Arc, mpsc::Sender},
    thread,
    time::Duration,
};

use tungstenite::{
    Error, Message, WebSocket,
    protocol::{Role, WebSocketConfig},
};

use crate::{
    command::{Command, LARGEST},
    hub::{Hub, Seen},
};

/// How long a page may take to accept a message before it is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a quiet socket looks whether its page is still there.
const QUIET: Duration = Duration::from_secs(2);

/// Serves a page until either side goes.
pub(crate) fn serve(stream: TcpStream, hub: &Arc<Hub>, commands: &Sender<Command>) {
    let _ = stream.set_nodelay(true);
    let _ = stream.set_read_timeout(None);
    let _ = stream.set_write_timeout(Some(PATIENCE));
    let Ok(other) = stream.try_clone() else { return };
    let writer = {
        // From now on: what is said before the thread runs is heard, too.
        let (hub, seen) = (Arc::clone(hub), hub.begin());
        thread::spawn(move || write(other, &hub, seen))
    };
    read(stream, hub, commands);
    // The writer notices by its next message that the page has gone.
    let _ = writer.join();
}

fn config() -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST))
}

fn read(stream: TcpStream, hub: &Hub, commands: &Sender<Command>) {
    let Ok(end) = stream.try_clone() else { return };
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, Some(config()));
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => match Command::read(&text) {
                Ok(command) => {
                    if commands.send(command).is_err() {
                        break;
                    }
                }
                Err(problem) => hub.complain(&problem),
            },
            Ok(Message::Binary(_)) => {
                hub.complain("commands are text");
            }
            Ok(Message::Close(_)) | Err(_) => break,
            Ok(_) => {}
        }
    }
    let _ = end.shutdown(std::net::Shutdown::Both);
}

fn write(stream: TcpStream, hub: &Hub, mut seen: Seen) {
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, Some(config()));
    let mut send = |message: Message| -> Result<(), Error> { socket.send(message) };
    loop {
        let news = hub.news(&mut seen, QUIET);
        let quiet = news.said.is_empty() && news.frame.is_none();
        let mut done = Ok(());
        for text in news.said {
            done = done.and_then(|()| send(Message::Text(text)));
        }
        if let Some(frame) = news.frame {
            done = done.and_then(|()| send(Message::Binary(frame)));
        }
        if quiet {
            done = done.and_then(|()| send(Message::Ping(tungstenite::Bytes::new())));
        }
        if done.is_err() || news.closed {
            let _ = socket.close(None);
            let _ = socket.get_ref().shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}
