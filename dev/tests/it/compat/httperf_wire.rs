//! Compares the bytes that the drop-in `httperf` and the real httperf send on each connection.

use super::both::both;
use crate::world::odd::serve_connections;
use std::fs;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

/// Arguments of runs. `FILE` is a session file, `LIST` a list of URIs.
const LINES: &[&str] = &[
    "",
    "--num-calls 3 --num-conns 2",
    "--http-version 1.0 --num-calls 2",
    "--num-calls 4 --burst-length 2",
    "--method PUT --server-name a.name --uri /x?y=%20",
    "--add-header X:y\\nZ:\\101\\n --num-calls 2",
    "--wset 12,0.5 --num-conns 9 --uri /pre",
    "--wset 10,1 --num-conns 11 --client 1/3 --uri /pre",
    "--wset 4,0 --num-conns 3",
    "--wlog y,LIST --num-conns 5",
    "--wsess 2,6,0 --burst-length 3",
    "--wsess 1,3,0 --session-cookies",
    "--wsesslog 2,0,FILE --session-cookies",
    "--wsess 1,3,0 --http-version 1.0",
];

/// Bytes received on one connection.
type Bytes = Vec<u8>;

#[test]
fn bytes_on_the_wire_are_the_same() {
    let Some(httperf) = both("compat::httperf_wire::bytes_on_the_wire_are_the_same", "httperf")
    else {
        return;
    };
    let connections: Arc<Mutex<Vec<Arc<Mutex<Bytes>>>>> = Arc::default();
    let all = Arc::clone(&connections);
    let odd = serve_connections(move |mut client| {
        let received = Arc::new(Mutex::new(Vec::new()));
        all.lock().expect("the connections").push(Arc::clone(&received));
        let mut buffer = [0; 8192];
        let mut replies = 0;
        while let Ok(n @ 1..) = client.stream.read(&mut buffer) {
            let mut received = received.lock().expect("the bytes");
            received.extend_from_slice(&buffer[..n]);
            let heads = received.windows(4).filter(|four| *four == b"\r\n\r\n").count();
            while replies < heads {
                replies += 1;
                let reply = format!(
                    "HTTP/1.1 200 OK\r\nSet-Cookie: a={replies}; path=/\r\nContent-Length: 2\r\n\r\nok"
                );
                let _ = client.stream.write_all(reply.as_bytes());
            }
        }
    });
    let dir = tempfile::TempDir::new().expect("a directory");
    fs::write(path_in(&dir, "sessions"), "/a method=POST contents=\"he\\nllo\"\n/b\n  /c\n\n/d\n")
        .expect("a file");
    fs::write(path_in(&dir, "list"), b"/w1\0/w2\0/w3\0").expect("a file");
    let take = || {
        let received_bytes = std::mem::take(&mut *connections.lock().expect("the connections"));
        let mut texts: Vec<_> = received_bytes
            .iter()
            .map(|c| String::from_utf8_lossy(&c.lock().expect("bytes")).into_owned())
            .collect();
        // Concurrent sessions open their connections in any order.
        texts.sort();
        texts
    };
    let port = odd.address.port().to_string();
    for line in LINES {
        let line = line
            .replace("FILE", &path_in(&dir, "sessions"))
            .replace("LIST", &path_in(&dir, "list"));
        let words = ["--server", "127.0.0.1", "--port", &port]
            .into_iter()
            .chain(line.split(' ').filter(|w| !w.is_empty()));
        let words: Vec<&str> = words.collect();
        let output = httperf.real(&words);
        let real = take();
        assert_eq!((output.code, real.is_empty()), (Some(0), false), "{line}: {}", output.err);
        let output = httperf.ours(&words);
        assert_eq!(output.code, Some(0), "{line}: {}", output.err);
        assert_eq!(take(), real, "{line}");
    }
}

fn path_in(dir: &tempfile::TempDir, name: &str) -> String {
    dir.path().join(name).display().to_string()
}
