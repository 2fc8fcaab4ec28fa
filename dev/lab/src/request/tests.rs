use super::*;

const KEEP: ReplyShape =
    ReplyShape { http10: false, head_only: false, keep_alive: true, message: None };

/// Parses all requests in `bytes`, in pieces of `piece` bytes.
fn requests(bytes: &[u8], piece: usize) -> Result<Vec<RequestedReply>, MalformedRequest> {
    let mut parser = RequestParser::new(true);
    let mut found = Vec::new();
    for mut input in bytes.chunks(piece) {
        loop {
            match parser.next(&mut input)? {
                ParserStep::Done(request) => found.push(request),
                ParserStep::Continue => {}
                ParserStep::Wait => break,
            }
        }
        assert!(input.is_empty());
    }
    assert!(parser.is_idle());
    Ok(found)
}

const STREAM: &[u8] = b"GET /status/404 HTTP/1.1\r\nHost: a\r\n\r\n\
    POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello\
    PUT /bytes/7?q HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n\
    HEAD http://localhost:80/delay/30 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n\
    GET / HTTP/1.1\r\nConnection: close\r\n\r\n";

#[test]
fn a_stream_is_parsed_equally_in_any_pieces() {
    let whole = requests(STREAM, STREAM.len()).unwrap();
    let routes: Vec<ReplyRoute> = whole.iter().map(|request| request.route).collect();
    assert_eq!(
        routes,
        [
            ReplyRoute::Status(404),
            ReplyRoute::Plain,
            ReplyRoute::Bytes(7),
            ReplyRoute::Delay(30),
            ReplyRoute::Plain
        ]
    );
    let closing = ReplyShape { keep_alive: false, ..KEEP };
    let head = ReplyShape { http10: true, head_only: true, ..KEEP };
    assert_eq!(
        whole.iter().map(|request| request.shape).collect::<Vec<_>>(),
        [KEEP, KEEP, KEEP, head, closing]
    );
    assert!(whole[1].echo.as_ref().unwrap().ends_with(b"\r\n\r\nhello"));
    assert!(whole[2].echo.as_ref().unwrap().ends_with(b"\r\n\r\nhello0123456789"));
    for piece in 1..STREAM.len() {
        assert_eq!(requests(STREAM, piece).unwrap(), whole, "in pieces of {piece}");
    }
}

#[test]
fn a_stream_is_parsed_equally_in_two_pieces() {
    let whole = requests(STREAM, STREAM.len()).unwrap();
    for cut in 0..=STREAM.len() {
        let mut parser = RequestParser::new(true);
        let mut found = Vec::new();
        for mut input in [&STREAM[..cut], &STREAM[cut..]] {
            while let ParserStep::Done(request) = parser.next(&mut input).unwrap() {
                found.push(request);
            }
        }
        assert_eq!(found, whole, "cut at {cut}");
    }
}

#[test]
fn a_waiting_client_gets_100_continue() {
    let mut parser = RequestParser::new(false);
    let mut head: &[u8] = b"POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    assert_eq!(parser.next(&mut head), Ok(ParserStep::Continue));
    let mut body: &[u8] = b"ok";
    assert_eq!(
        parser.next(&mut body),
        Ok(ParserStep::Done(RequestedReply { shape: KEEP, ..RequestedReply::default() }))
    );
}

#[test]
fn malformed_requests_are_refused() {
    for (bytes, reason) in [
        (&b"\x16\x03\x01 hello\r\n\r\n"[..], "no HTTP/1.x"),
        (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "bad Content-Length"),
        (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "two different"),
        (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "both"),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", "other than chunked"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "chunk size"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "longer than"),
    ] {
        let MalformedRequest(told) = requests(bytes, bytes.len()).unwrap_err();
        assert!(told.contains(reason), "{told}");
    }
    let endless = [b"GET / HTTP/1.1\r\nX: ".to_vec(), vec![b'x'; MAX_HEAD]].concat();
    assert!(requests(&endless, endless.len()).unwrap_err().0.contains("64 KiB"));
}

#[test]
fn routes() {
    assert_eq!(ReplyRoute::of("/redirect/3"), ReplyRoute::Redirect(3));
    assert_eq!(ReplyRoute::of("/stats"), ReplyRoute::Stats);
    assert_eq!(ReplyRoute::of("/stats?now"), ReplyRoute::Stats);
    assert_eq!(ReplyRoute::of("http://localhost/bytes/5"), ReplyRoute::Bytes(5));
    assert_eq!(ReplyRoute::of("http://localhost"), ReplyRoute::Plain);
    for target in ["/", "*", "/status/42", "/status/x", "/status/404/more", "/bytes/-1", "/other/5"]
    {
        assert_eq!(ReplyRoute::of(target), ReplyRoute::Plain, "{target}");
    }
}

#[test]
fn a_delay_may_have_its_unit() {
    for (path, route) in [
        ("/delay/5", ReplyRoute::Delay(5)),
        ("/delay/5ms", ReplyRoute::Delay(5)),
        ("/delay/5s", ReplyRoute::Plain),
        ("/delay/ms", ReplyRoute::Plain),
    ] {
        assert_eq!(ReplyRoute::of(path), route, "{path}");
    }
}
