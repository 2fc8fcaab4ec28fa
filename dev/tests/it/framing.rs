//! Tests all kinds of message framing of HTTP/1, with real and scripted servers.

use crate::world::odd::{page, serve_connections};
use crate::world::{lab, measure, nginx, serve_reply};

/// Asserts that requests with these replies are good, and that one connection is kept.
fn assert_kept(reply: &str, options: &str) {
    let server = serve_reply(reply);
    let ran = measure(&format!("{} -c 1 -n 10 {options}", server.url_of("/"))).assert_all_good();
    assert_eq!(ran.connections("opened"), 1, "{reply:?}");
    assert_eq!(ran.number("/bytes/received"), 10 * reply.len() as u64, "{reply:?}");
}

#[test]
fn replies_to_head_have_no_body() {
    let Some(nginx) = nginx("replies_to_head_have_no_body", "") else { return };
    let ran = measure(&format!("{} -c 2 -n 40 -X HEAD", nginx.url_of("/long"))).assert_all_good();
    assert_eq!(ran.connections("opened"), 2);
    assert!(ran.number("/bytes/received") < 40 * 1000);
    assert_kept("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "-X HEAD");
    assert_kept("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "-X HEAD");
}

#[test]
fn some_statuses_have_no_body() {
    let lab = lab("--body 1000");
    for status in [204, 304] {
        let ran = measure(&format!("{}/status/{status} -c 2 -n 30", lab.url)).assert_all_good();
        assert_eq!((ran.status(status), ran.connections("opened")), (30, 2));
    }
    assert_kept("HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n", "");
}

#[test]
fn chunked_bodies_are_read() {
    let lab = lab("--chunked --body 100k");
    let ran = measure(&format!("{} -c 2 -n 30", lab.url_of("/"))).assert_all_good();
    assert_eq!(ran.connections("opened"), 2);
    assert_eq!(lab.into_statistics()["bytes"]["sent"], ran.number("/bytes/received"));
    assert_kept(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3;a=\"b\"\r\nabc\r\n0\r\nTrailer: x\r\n\r\n",
        "",
    );
    assert_kept(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n",
        "--expect-body ^0123456789$",
    );
}

#[test]
fn a_body_may_end_with_the_connection() {
    let server = serve_connections(|mut client| {
        client.request();
        client.write(format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(5000)));
    });
    let ran = measure(&format!("{} -c 2 -n 20 --expect-body ^x{{5000}}$", server.url_of("/")))
        .assert_all_good();
    assert_eq!((ran.connections("opened"), ran.connections("reused")), (20, 0));
}

#[test]
fn connection_close_is_obeyed() {
    let server = serve_connections(|mut client| {
        client.request();
        client.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi");
    });
    let ran = measure(&format!("{} -c 2 -n 20", server.url_of("/"))).assert_all_good();
    assert_eq!((ran.connections("opened"), ran.count("retries")), (20, 0));
}

#[test]
fn interim_replies_are_not_the_reply() {
    assert_kept("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "");
    let early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    assert_kept(
        &format!("{early}{early}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
        "--expect-body hi",
    );
}

#[test]
fn long_heads_are_read_up_to_the_limit() {
    assert_kept(&long_head(64_000), "");
    let server = serve_reply(long_head(80_000));
    let ran = measure(&format!("{} -c 1 -n 5", server.url_of("/"))).assert_code(3);
    assert_eq!(ran.failed("protocol"), 5);
}

fn long_head(length: usize) -> String {
    format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(length))
}

#[test]
fn replies_in_single_bytes_are_read() {
    let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
            .to_owned();
    for reply in [chunked, page("abcde"), format!("HTTP/1.1 100 Continue\r\n\r\n{}", page("abcde"))]
    {
        let server = serve_connections(move |mut client| {
            while client.request().is_some() {
                for byte in reply.bytes() {
                    client.write([byte]);
                }
            }
        });
        let ran = measure(&format!("{} -c 2 -n 10 --expect-body ^abcde$", server.url_of("/")))
            .assert_all_good();
        assert_eq!(ran.connections("opened"), 2);
    }
}

#[test]
fn malformed_replies_are_protocol_failures() {
    for reply in [
        "SSH-2.0-OpenSSH_9.2\r\n\r\n",
        "HTTP/1.1 twohundred OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    ] {
        let server = serve_reply(reply);
        let ran = measure(&format!("{} -c 1 -n 5 --timeout 2s", server.url_of("/"))).assert_code(3);
        assert_eq!(ran.failed("protocol"), 5, "{reply:?}: {}", ran.out);
    }
}

#[test]
fn long_bodies_are_counted_to_the_byte() {
    let Some(nginx) = nginx("long_bodies_are_counted_to_the_byte", "") else { return };
    let plain = measure(&format!("{} -c 2 -n 100", nginx.url_of("/long"))).assert_all_good();
    let looked_at = measure(&format!("{} -c 2 -n 100 --expect-body ^x+$", nginx.url_of("/long")))
        .assert_all_good();
    assert!(plain.number("/bytes/received") > 100 * 200_000);
    assert_eq!(plain.number("/bytes/received"), looked_at.number("/bytes/received"));
}

#[test]
fn a_reply_before_the_end_of_the_request_body_is_accepted() {
    // The server answers without reading the body, as servers do that refuse it.
    let server = serve_connections(|mut client| {
        client.write(
            "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        );
        std::thread::sleep(std::time::Duration::from_millis(300));
    });
    let dir = tempfile::TempDir::new().expect("a directory");
    let file = dir.path().join("body");
    std::fs::write(&file, vec![b'x'; 8 << 20]).expect("a body");
    let ran = measure(&format!("{} -c 1 -n 2 --data @{}", server.url_of("/"), file.display()))
        .assert_code(4);
    assert_eq!(ran.status(413), 2, "{}", ran.out);
}
