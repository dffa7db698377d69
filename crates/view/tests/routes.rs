//! What the server answers: pages, files and numbers of run folders, and nothing else.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tailcut_fixtures::{FakeRun, USUAL, fabricate};
use tailcut_results::RunInfo;
use tailcut_view::{Server, Site, serve};

const SMALL: FakeRun = FakeRun { schemes: &["dctcp", "pias"], flows: 300, seeds: 2, ..USUAL };

/// A run folder in which everything is finished.
fn finished(folder: &Path) -> RunInfo {
    let info = fabricate(folder, &SMALL);
    info.write(&folder.join("run.json")).unwrap();
    info
}

fn state(site: &Site) -> Value {
    let answer = site.get("/state.json");
    assert_eq!((answer.status, answer.content_type), (200, "application/json"));
    serde_json::from_slice(&answer.body).unwrap()
}

fn text(site: &Site, target: &str) -> (u16, String) {
    let answer = site.get(target);
    (answer.status, String::from_utf8_lossy(&answer.body).into_owned())
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
    assert_eq!(text(&site, "/a/explain?flow=1").0, 422);
    let (status, page) = text(&site, "/a/explain?point=%3Cb%3E&flow=1");
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

/// What is sent for a request, byte for byte.
fn exchange(address: std::net::SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn the_server_answers_this_machine_and_ends_when_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    finished(folder.path());
    let site = Site::of(&[folder.path()]).unwrap();
    let server = Server::listen(0).unwrap();
    let address = server.address();
    assert!(address.ip().is_loopback());
    assert!(Server::listen(address.port()).is_err(), "it is taken");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| serve(&server, &site, &|| stop.load(Ordering::Relaxed)));
        let with = |method: &str, host: &str| {
            exchange(address, &format!("{method} / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
        };
        let page = with("GET", &address.to_string());
        assert!(page.starts_with("HTTP/1.1 200") && page.contains("id=\"pane-a\""), "{page}");
        assert!(with("HEAD", "localhost").starts_with("HTTP/1.1 200"));
        assert!(with("POST", "localhost").starts_with("HTTP/1.1 405"));
        // A name of somewhere else that leads here.
        assert!(with("GET", "example.org").starts_with("HTTP/1.1 403"));
        stop.store(true, Ordering::Relaxed);
    });
}
