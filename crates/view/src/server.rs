//! The server: it takes requests of this machine alone.

use std::io::Cursor;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tailcut_sim::Problem;
use tiny_http::{Header, Method, Request, Response, StatusCode};

use crate::site::{Answer, Site};

/// Requests that are answered side by side: a flow that is explained holds up no other page.
const THREADS: usize = 8;
/// Time between two looks whether to end.
const LOOK: Duration = Duration::from_millis(200);

/// A server that listens.
pub struct Server {
    http: tiny_http::Server,
    address: SocketAddr,
}

impl Server {
    /// Listens at a port of the loopback interface; any free one if it is 0.
    ///
    /// # Errors
    /// If the port is taken.
    pub fn listen(port: u16) -> Result<Server, Problem> {
        let refuse = |why: String| {
            Problem::new(format!("cannot listen at 127.0.0.1:{port}: {why}"))
                .help("expected a port that is free, or no `--port` for any")
        };
        let http = tiny_http::Server::http((Ipv4Addr::LOCALHOST, port)).map_err(|error| refuse(error.to_string()))?;
        let address = http.server_addr().to_ip().ok_or_else(|| refuse("it has no address".to_owned()))?;
        Ok(Server { http, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Answers requests until `stop` says so.
pub fn serve(server: &Server, site: &Site, stop: &(dyn Fn() -> bool + Sync)) {
    let work = || {
        while !stop() {
            // An error is that of one connection, which is closed.
            if let Ok(Some(request)) = server.http.recv_timeout(LOOK) {
                respond(request, site);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..THREADS {
            scope.spawn(work);
        }
        work();
    });
}

fn respond(request: Request, site: &Site) {
    let answer = match (is_for_loopback(&request), request.method()) {
        (true, Method::Get | Method::Head) => site.get(request.url()),
        (true, _) => plain(405, "only GET and HEAD are answered\n"),
        // A page of somewhere else that found a way to this port by a name of its own.
        (false, _) => plain(403, "only requests to this machine by its own name are answered\n"),
    };
    let header = |name: &str, value: &str| Header::from_bytes(name, value).expect("a header of this program is one");
    let headers = vec![
        header("Content-Type", answer.content_type),
        header("Cache-Control", "no-store"),
        header("X-Content-Type-Options", "nosniff"),
        header("Referrer-Policy", "no-referrer"),
    ];
    let length = answer.body.len();
    let response = Response::new(StatusCode(answer.status), headers, Cursor::new(answer.body), Some(length), None);
    // A browser that has gone away wants no answer.
    let _ = request.respond(response);
}

fn plain(status: u16, text: &str) -> Answer {
    Answer { status, content_type: "text/plain; charset=utf-8", body: text.into() }
}

/// Whether a request names this machine as its host.
fn is_for_loopback(request: &Request) -> bool {
    let host = request.headers().iter().find(|header| header.field.equiv("Host"));
    host.is_some_and(|header| {
        let host = header.value.as_str();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        ["127.0.0.1", "localhost"].contains(&name)
    })
}
