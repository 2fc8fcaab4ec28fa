//! Tests with random bytes: the outcome does not depend on how they are cut into pieces.

use super::*;
use proptest::prelude::*;

/// Generates fragments of replies, so that random bytes get beyond the status line.
fn scrap() -> impl Strategy<Value = Vec<u8>> {
    let samples = prop::sample::select(vec![
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.0 200 OK\r\n",
        "HTTP/1.1 204\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 101 \r\n",
        "Content-Length: 7\r\n",
        "Content-Length: 7, 8\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Connection: close\r\n",
        "A: b\r\n c\r\n",
        "A : \r\n",
        "\r\n",
        "\n",
        "\r",
        " ",
        "5\r\nhello\r\n",
        "3;x=y\r\n",
        "0\r\n",
        "f",
        "ffffffffffffffff\r\n",
        "0\r\n\r\n",
    ]);
    prop_oneof![
        8 => samples.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ]
}

fn request_kind() -> impl Strategy<Value = RequestKind> {
    prop::sample::select(vec![
        RequestKind::Ordinary,
        RequestKind::Ordinary,
        RequestKind::Head,
        RequestKind::Connect,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_pieces_of_any_bytes_give_the_same_result(
        kind in request_kind(),
        scraps in prop::collection::vec(scrap(), 0..16),
        pieces in prop::collection::vec(0_usize..40, 1..30),
    ) {
        let bytes = scraps.concat();
        let whole = whole(kind, &bytes);
        prop_assert_eq!(&run(kind, &bytes, pieces.clone(), Body::Fed), &whole);
        let dropped = run(kind, &bytes, pieces, Body::Dropped);
        prop_assert_eq!(&Outcome { seen: whole.seen.clone(), ..dropped }, &whole);
    }

    #[test]
    fn any_pieces_of_valid_replies_give_the_same_result(
        which in any::<prop::sample::Index>(),
        pieces in prop::collection::vec(1_usize..60, 1..40),
    ) {
        let cases = open_cases();
        let case = which.get(&cases);
        let bytes = case.bytes();
        let outcome = run(case.kind, &bytes, pieces, Body::Fed);
        prop_assert_eq!(&outcome, &whole(case.kind, &bytes));
        prop_assert_eq!(&outcome.seen.body, &case.body);
    }

    #[test]
    fn arbitrary_bytes_are_parsed_or_refused(kind in request_kind(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let outcome = whole(kind, &bytes);
        prop_assert!(outcome.verdict.is_err() || outcome.head.is_some());
    }
}
