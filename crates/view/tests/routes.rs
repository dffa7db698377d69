//! What the server answers: pages, files and numbers of run folders, and nothing else.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tailcut_fixtures::{FakeRun, USUAL, fabricate};
use tailcut_results::RunInfo;
use tailcut_view::{Policy, Server, Site, serve};

const SMALL: FakeRun = FakeRun { schemes: &["dctcp", "pias"], flows: 300, seeds: 2, ..USUAL };

/// A run folder in which everything is finished.
fn finished(folder: &Path) -> RunInfo {
    let info = fabricate(folder, &SMALL);
    info.write(folder).unwrap();
    info
}

fn state(site: &Site) -> Value {
    let answer = site.get("/state.json");
    assert_eq!((answer.status, answer.content_type), (200, "application/json"));
    serde_json::from_slice(&answer.body.bytes().unwrap()).unwrap()
}

fn text(site: &Site, target: &str) -> (u16, String) {
    let answer = site.get(target);
    (answer.status, String::from_utf8(answer.body.bytes().unwrap()).unwrap())
}

#[test]
fn a_folder_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let problem = Site::of(&[folder.path()]).err().unwrap();
    assert!(problem.message().ends_with("is no run folder"), "{problem}");
}

#[test]
fn a_run_is_told_of_while_it_goes_on_and_when_it_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let info = finished(folder.path());
    let site = Site::of(&[folder.path()]).unwrap();
    let all = info.points.len();
    let done = state(&site);
    assert_eq!(
        (&done[0]["points"], &done[0]["finished"], &done[0]["left_s"]),
        (&json!(all), &json!(all), &Value::Null)
    );
    // One point is under way, another one has failed.
    let point = |nth: usize| folder.path().join("points").join(&info.points[nth].key);
    for nth in [0, 1] {
        fs::remove_file(point(nth).join("summary.json")).unwrap();
    }
    fs::write(point(0).join(".under-way.tmp"), r#"{"fraction":0.25,"simulated_ns":3e6,"elapsed_s":2.0}"#).unwrap();
    fs::write(point(1).join("error.txt"), "stalled at 3ms: nothing goes on\n  and more\n").unwrap();
    let now = state(&site);
    assert_ne!(now[0]["stamp"], done[0]["stamp"]);
    assert_eq!(now[0]["finished"], json!(all - 2));
    assert_eq!(now[0]["failed"][0]["reason"], json!("stalled at 3ms: nothing goes on"));
    let under_way = &now[0]["under_way"][0];
    assert_eq!((&under_way["key"], &under_way["fraction"]), (&json!(info.points[0].key), &json!(0.25)));
    assert!(under_way["left_s"].as_f64().unwrap() >= 6.0 && now[0]["left_s"].as_f64().unwrap() > 0.0, "{now}");
    let (status, page) = text(&site, "/a/");
    assert_eq!(status, 200);
    assert!(page.contains(&format!("{} of {all} points", all - 2)) && page.contains("id=\"metric-chart\""));
    // At first nothing is finished.
    for point in &info.points {
        let _ = fs::remove_file(folder.path().join("points").join(&point.key).join("summary.json"));
    }
    let (status, page) = text(&site, "/a/");
    assert!(status == 200 && page.contains("<b>0 flows</b>") && !page.contains("id=\"metric-chart\""), "{page}");
    assert_eq!(text(&site, "/a/slowest.json").0, 422);
    // What a killed process has left is old.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    fs::File::options().append(true).open(point(0).join(".under-way.tmp")).unwrap().set_modified(old).unwrap();
    assert_eq!(state(&site)[0]["under_way"], json!([]));
    // Nothing was written.
    assert!(!folder.path().join("report.html").exists());
}

#[test]
fn pages_files_and_slow_flows_are_found() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let info = finished(a.path());
    finished(b.path());
    fs::write(a.path().join("scenario.toml"), "seeds = 2\n").unwrap();
    let site = Site::of(&[a.path(), b.path()]).unwrap();
    let (status, frame) = text(&site, "/");
    assert_eq!(status, 200);
    assert!(frame.contains("id=\"pane-a\"") && frame.contains("id=\"pane-b\"") && !frame.contains("LETTER"));
    assert_eq!(state(&site).as_array().unwrap().len(), 2);
    assert_eq!(text(&site, "/b/scenario.toml").0, 404);
    assert_eq!(text(&site, "/a/scenario.toml"), (200, "seeds = 2\n".to_owned()));
    let key = &info.points[0].key;
    let summary = site.get(&format!("/a/points/{key}/summary.json"));
    assert_eq!((summary.status, summary.content_type), (200, "application/json"));
    let (status, names) = text(&site, "/a/points/");
    assert!(status == 200 && names.contains(&format!("<a href=\"{key}/\">{key}/</a>")), "{names}");
    let slow: Value = serde_json::from_str(&text(&site, "/a/slowest.json?class=short").1).unwrap();
    let times: Vec<f64> = slow.as_array().unwrap().iter().map(|flow| flow["fct_ns"].as_f64().unwrap()).collect();
    assert!(times.len() == 12 && times.is_sorted_by(|a, b| a >= b), "{times:?}");
    assert_eq!(text(&site, "/a/slowest.json?class=none").0, 422);
    let token = frame.split_once("data-token=\"").unwrap().1.split_once('"').unwrap().0;
    assert_eq!(text(&site, &format!("/a/explain?flow=1&token={token}")).0, 422);
    let (status, page) = text(&site, &format!("/a/explain?point=%3Cb%3E&flow=1&token={token}"));
    assert!(status == 422 && page.contains("&#60;b&#62;") && !page.contains("<b>"), "{page}");
}

#[test]
fn nothing_beside_the_folders_is_answered() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("run");
    finished(&folder);
    fs::write(outside.path().join("secret"), "x").unwrap();
    fs::write(folder.join(".hidden"), "x").unwrap();
    let site = Site::of(&[&folder]).unwrap();
    let mut targets = vec![
        "",
        "a",
        "//",
        "/b/",
        "/c",
        "/a/../secret",
        "/a/%2e%2e/secret",
        "/a/..%2fsecret",
        "/a//etc/passwd",
        "/a/%2fetc%2fpasswd",
        "/a/.hidden",
        "/a/points",
        "/a/nothing",
        "/a/nothing/",
        "/a/../",
        "/a/.hidden/",
        "/a/%00",
        "/state.json/x",
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path().join("secret"), folder.join("link")).unwrap();
        targets.push("/a/link");
    }
    for target in targets {
        assert_eq!(site.get(target).status, 404, "{target}");
    }
}

#[test]
fn a_simulation_is_started_with_the_token_of_the_page_only() {
    let folder = tempfile::tempdir().unwrap();
    let info = finished(folder.path());
    let (site, other) = (Site::of(&[folder.path()]).unwrap(), Site::of(&[folder.path()]).unwrap());
    let of_other = text(&other, "/").1;
    let of_other = of_other.split_once("data-token=\"").unwrap().1.split_once('"').unwrap().0;
    assert_eq!(of_other.len(), 32);
    for token in ["", "&token=", &format!("&token={of_other}")] {
        let target = format!("/a/explain?point={}&flow=1{token}", info.points[0].key);
        assert_eq!(text(&site, &target).0, 403, "{target}");
    }
}

#[test]
fn files_of_a_run_folder_may_run_no_script() {
    let folder = tempfile::tempdir().unwrap();
    finished(folder.path());
    fs::write(folder.path().join("planted.svg"), "<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>").unwrap();
    fs::write(folder.path().join("planted.html"), "<script>alert(1)</script>").unwrap();
    let site = Site::of(&[folder.path()]).unwrap();
    for (file, content_type) in [
        ("planted.svg", "image/svg+xml"),
        ("planted.html", "application/octet-stream"),
        ("run.json", "application/json"),
    ] {
        let answer = site.get(&format!("/a/{file}"));
        assert_eq!((answer.status, answer.content_type, answer.policy), (200, content_type, Policy::File), "{file}");
    }
    for (target, scripts) in [("/", 1), ("/a/", 2), ("/a/points/", 0), ("/a/slowest.json?class=none", 0)] {
        let Policy::Page { scripts: allowed } = site.get(target).policy else { panic!("{target} is a page") };
        assert_eq!(allowed.len(), scripts, "{target}");
        // Every script that runs is one that the policy allows.
        let page = text(&site, target).1;
        assert_eq!(page.matches("<script>").count(), scripts, "{target}");
        assert!(allowed.iter().all(|script| page.contains(&format!("<script>{script}</script>"))), "{target}");
    }
}

/// The bytes of the response to a request.
fn exchange(address: std::net::SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    // A server may refuse a request before it has all of it.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// Runs a server of this folder while `client` is run with its address.
fn served(folder: &Path, client: impl FnOnce(std::net::SocketAddr)) {
    /// Ends the server when a client has failed as well.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let site = Site::of(&[folder]).unwrap();
    let server = Server::listen(0).unwrap();
    let address = server.address();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| serve(server, site, &|| stop.load(Ordering::Relaxed)).unwrap());
        let _stop = Stop(&stop);
        client(address);
    });
}

fn request(address: std::net::SocketAddr, method: &str, target: &str, fields: &str) -> String {
    exchange(address, &format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n{fields}\r\n"))
}

#[test]
fn the_server_serves_this_machine_and_ends_when_it_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    finished(folder.path());
    served(folder.path(), |address| {
        assert!(address.ip().is_loopback());
        assert!(Server::listen(address.port()).is_err(), "the port is taken");
        let page = request(address, "GET", "/", &format!("Host: {address}\r\n"));
        assert!(page.starts_with("HTTP/1.1 200") && page.contains("id=\"pane-a\""), "{page}");
        for field in
            ["content-security-policy: default-src 'none'; script-src 'sha256-", "x-content-type-options: nosniff"]
        {
            assert!(page.contains(field), "{field} in {page}");
        }
        let head = request(address, "HEAD", "/a/run.json", "Host: localhost\r\n");
        let length = fs::metadata(folder.path().join("run.json")).unwrap().len();
        assert!(head.starts_with("HTTP/1.1 200") && head.contains(&format!("content-length: {length}\r\n")), "{head}");
        assert!(head.ends_with("\r\n\r\n"), "{head}");
        assert!(request(address, "POST", "/", "Host: localhost\r\n").starts_with("HTTP/1.1 405"));
        // A name of another machine that resolves to this one, and pages of other origins.
        for fields in [
            "Host: example.org\r\n".to_owned(),
            String::new(),
            format!("Host: {address}\r\nOrigin: http://example.org\r\n"),
            format!("Host: {address}\r\nOrigin: null\r\n"),
        ] {
            assert!(request(address, "GET", "/", &fields).starts_with("HTTP/1.1 403"), "{fields}");
        }
        let own = format!("Host: {address}\r\nOrigin: http://{address}\r\n");
        assert!(request(address, "GET", "/state.json", &own).starts_with("HTTP/1.1 200"));
    });
}

#[test]
fn a_large_file_is_sent_as_it_is_and_an_aborted_transfer_harms_nobody() {
    let folder = tempfile::tempdir().unwrap();
    finished(folder.path());
    let large: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
    fs::write(folder.path().join("large.bin"), &large).unwrap();
    // Nothing of it is in memory.
    fs::File::create(folder.path().join("huge.bin")).unwrap().set_len(1 << 40).unwrap();
    served(folder.path(), |address| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /a/large.bin HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.ends_with(&large), "{} bytes", answer.len());
        for _ in 0..8 {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"GET /a/huge.bin HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            stream.read_exact(&mut [0; 1000]).unwrap();
        }
        assert!(request(address, "GET", "/state.json", "Host: localhost\r\n").starts_with("HTTP/1.1 200"));
    });
}

#[test]
fn connections_that_ask_nothing_do_not_keep_others_out() {
    let folder = tempfile::tempdir().unwrap();
    finished(folder.path());
    served(folder.path(), |address| {
        // More than are served side by side: some idle, some with half a request.
        let idle: Vec<TcpStream> = (0..100)
            .map(|nth| {
                let mut stream = TcpStream::connect(address).unwrap();
                if nth % 2 == 0 {
                    stream.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
                }
                stream
            })
            .collect();
        assert!(request(address, "GET", "/state.json", "Host: localhost\r\n").starts_with("HTTP/1.1 200"));
        drop(idle);
        let many = format!("Host: localhost\r\n{}", "X: y\r\n".repeat(1000));
        assert!(!request(address, "GET", "/", &many).starts_with("HTTP/1.1 200"));
        let long = format!("/{}", "x".repeat(1 << 20));
        assert!(!request(address, "GET", &long, "Host: localhost\r\n").starts_with("HTTP/1.1 200"));
        assert!(request(address, "GET", "/state.json", "Host: localhost\r\n").starts_with("HTTP/1.1 200"));
    });
}
