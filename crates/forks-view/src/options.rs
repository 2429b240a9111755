//! Settings of a view.

use std::net::{IpAddr, Ipv4Addr};

/// Where to listen, and how to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewOptions {
    /// Interface; the loopback by default. Others let everybody in the network in who has the
    /// token.
    pub interface: IpAddr,
    /// Port; 0, the default, for any that is free.
    pub port: u16,
    /// Time of a step, s; scenes have their own. Default 2 ms.
    pub step: f64,
    /// False, the default: everything stands still until somebody says play.
    pub playing: bool,
}

impl Default for ViewOptions {
    fn default() -> Self {
        let interface = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Self { interface, port: 0, step: 2e-3, playing: false }
    }
}
