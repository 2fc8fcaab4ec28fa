use super::*;

fn parsed(line: &str) -> Result<HttperfArgs, HttperfExit> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    parse(&words)
}

fn refused(line: &str) -> String {
    match parsed(line) {
        Err(HttperfExit::Message(text)) => text,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn unambiguous_prefixes_of_names_are_accepted() {
    let args = parsed("--num-conn 5 --num-call=3 --ra 10 --server h --po 81 extra words").unwrap();
    assert_eq!((args.num_conns, args.num_calls, &args.period), (5, 3, &Period::Fixed(0.1)));
    assert_eq!((&*args.server, args.port()), ("h", 81));
    assert_eq!(
        refused("--num 1"),
        "option '--num' is ambiguous; possibilities: '--num-calls' '--num-conns'"
    );
}

#[test]
fn periods() {
    let period = |text: &str| parsed(&format!("--period {text}")).unwrap().period;
    assert_eq!(period("0.5"), Period::Fixed(0.5));
    assert_eq!(period("d0.5"), Period::Fixed(0.5));
    assert_eq!(period("e2"), Period::Exponential(2.0));
    assert_eq!(period("u1,3"), Period::Uniform(1.0, 3.0));
    assert_eq!(period("v1,2,0.5,4"), Period::Parts(vec![(1.0, 2.0), (0.5, 4.0)]));
    assert_eq!(refused("--period x"), "illegal interarrival distribution 'x' in x");
    assert_eq!(
        refused("--period u1"),
        "minimum interarrival time not followed by `,MAX_IAT' (rest: `')"
    );
    let (shape, arrivals) = period("u1,3").arrivals().unwrap();
    assert_eq!(
        (shape.as_constant(), arrivals),
        (Some(0.5), brunt_model::Arrivals::Uniform(500_000))
    );
}

#[test]
fn errors_have_the_wording_of_httperf() {
    for (line, told) in [
        ("--burst-length 0", "illegal burst-length 0"),
        ("--port 99999", "illegal port number 99999"),
        ("--wsess 1,2", "bad user think time (3rd param) in --wsess arg (rest: `')"),
        ("--wsess 3,4,0.1,5", "extraneous parameter in --wsess arg (rest: `,5')"),
        ("--wsesslog 1,2", "bad session filename (3rd param) in --wsesslog arg (rest: `')"),
        ("--http-version x", "illegal version number x"),
        ("--hog=1", "option '--hog' doesn't allow an argument"),
    ] {
        assert_eq!(refused(line), told, "{line}");
    }
}
