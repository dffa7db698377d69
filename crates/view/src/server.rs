//! The HTTP server: it listens on the loopback interface and serves this machine only.
//!
//! Every resource that a client may hold has a limit: connections, the time in which a request must arrive, the time
//! without progress of a transfer, and the bytes of a request's head.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tailcut_sim::Problem;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use crate::body::Body;
use crate::site::{Answer, Site};

/// Open connections; further clients wait in the kernel's backlog until one is closed.
const CONNECTIONS: usize = 64;
/// Time in which the head of a request must have arrived; an idle connection is closed after it.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// Time after which a transfer without progress is given up.
const STALL_TIME: Duration = Duration::from_secs(30);
/// Bytes of a request's head.
const HEAD_BYTES: usize = 16 << 10;
/// Header fields of a request.
const HEAD_FIELDS: usize = 64;
/// Time between two checks whether to end.
const STOP_CHECK: Duration = Duration::from_millis(200);
/// Pause after a connection could not be accepted, for example because the process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    runtime: Runtime,
}

impl Server {
    /// Listens at a port of the loopback interface; any free one if it is 0.
    ///
    /// # Errors
    /// If the port is taken, or the system gives no sockets.
    pub fn listen(port: u16) -> Result<Server, Problem> {
        let refuse = |error: io::Error| {
            Problem::new(format!("cannot listen at 127.0.0.1:{port}: {error}"))
                .help("expected a port that is free, or no `--port` for any")
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refuse)?;
        listener.set_nonblocking(true).map_err(refuse)?;
        let address = listener.local_addr().map_err(refuse)?;
        // A connection has one request at a time, so that no request waits for a thread.
        let runtime =
            Builder::new_current_thread().enable_all().max_blocking_threads(CONNECTIONS).build().map_err(refuse)?;
        Ok(Server { listener, address, runtime })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Serves `site` until `stop` returns true. Transfers and simulations that are under way then are abandoned.
///
/// # Errors
/// If the system refuses to wait for connections at all.
pub fn serve(server: Server, site: Site, stop: &dyn Fn() -> bool) -> Result<(), Problem> {
    let Server { listener, runtime, address } = server;
    let served = runtime.block_on(accept(listener, Arc::new(site), stop));
    runtime.shutdown_background();
    served.map_err(|error| Problem::new(format!("cannot wait for connections at {address}: {error}")))
}

/// Accepts connections and serves each in a task of its own. No error of one connection ends the loop.
async fn accept(listener: TcpListener, site: Arc<Site>, stop: &dyn Fn() -> bool) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    let next = || async {
        let slot = Arc::clone(&slots).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, _) = listener.accept().await?;
        io::Result::Ok((slot, stream))
    };
    while !stop() {
        match timeout(STOP_CHECK, next()).await {
            Ok(Ok((slot, stream))) => {
                let site = Arc::clone(&site);
                tokio::spawn(async move {
                    connection(stream, &site).await;
                    drop(slot);
                });
            }
            Ok(Err(_)) => sleep(ACCEPT_PAUSE).await,
            Err(_) => {}
        }
    }
    Ok(())
}

/// Serves the requests of one connection.
async fn connection(stream: TcpStream, site: &Arc<Site>) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(STALL_TIME));
    let service = service_fn(|request| async move { Ok::<_, Infallible>(respond(&request, site).await) });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIME)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_FIELDS)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    // A client that has gone away expects no response, and one that is too slow gets none.
    let _ = serving.await;
}

async fn respond(request: &Request<Incoming>, site: &Arc<Site>) -> Response<Body> {
    let headers = request.headers();
    let answer = if !is_for_loopback(headers) {
        Answer::plain(403, "only requests that name this machine as their host are served\n")
    } else if !is_same_origin(headers) {
        Answer::plain(403, "requests of pages of other origins are not served\n")
    } else if matches!(*request.method(), Method::GET | Method::HEAD) {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str()).to_owned();
        let site = Arc::clone(site);
        let got = tokio::task::spawn_blocking(move || site.get(&target)).await;
        got.unwrap_or_else(|_| Answer::plain(500, "this page could not be made\n"))
    } else {
        Answer::plain(405, "only GET and HEAD are served\n")
    };
    response(answer)
}

fn response(answer: Answer) -> Response<Body> {
    let refused = answer.status == 405;
    let policy = answer.policy.header();
    let mut response = Response::new(answer.body);
    *response.status_mut() = answer.status.try_into().expect("a status of this program is one of HTTP");
    let headers = response.headers_mut();
    let mut fixed = |name: HeaderName, value: &'static str| headers.insert(name, HeaderValue::from_static(value));
    fixed(CONTENT_TYPE, answer.content_type);
    fixed(CACHE_CONTROL, "no-store");
    fixed(X_CONTENT_TYPE_OPTIONS, "nosniff");
    fixed(REFERRER_POLICY, "no-referrer");
    fixed(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    if refused {
        fixed(ALLOW, "GET, HEAD");
        // The body of such a request is not read.
        fixed(CONNECTION, "close");
    }
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    response
}

/// Whether a request names this machine as its host: a page elsewhere may reach this port by a name of its own.
fn is_for_loopback(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(|host| {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        ["127.0.0.1", "localhost"].contains(&name)
    })
}

/// Whether a request names no origin, or that of this server.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    origin.to_str().is_ok_and(|origin| origin.strip_prefix("http://") == Some(host))
}
