use super::*;

fn parsed(line: &str) -> Result<AbArgs, AbExit> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    parse("ab", &words)
}

fn refused(line: &str) -> String {
    match parsed(line) {
        Err(AbExit::Usage(text)) => format!("{text}usage"),
        Err(AbExit::Message(text)) => text,
        Err(AbExit::Version) => "version".into(),
        Ok(args) => panic!("{line}: {args:?}"),
    }
}

#[test]
fn a_time_limit_sets_the_requests_unless_a_later_option_does() {
    let n = |line: &str| parsed(line).unwrap().requests;
    assert_eq!(n("-n 10 -t 1 h/"), 50_000);
    assert_eq!(n("-t 1 -n 5 h/"), 5);
    assert_eq!(n("h/"), 1);
}

#[test]
fn methods_are_mixed_in_one_order_only() {
    assert_eq!(parsed("-i -m OPTIONS h/").unwrap().method.as_deref(), Some("OPTIONS"));
    assert_eq!(parsed("-p Cargo.toml -m PATCH h/").unwrap().method.as_deref(), Some("PATCH"));
    assert_eq!(refused("-m PATCH -p Cargo.toml h/"), "Cannot mix POST with other methods\n\n");
    assert_eq!(refused("-p Cargo.toml -u Cargo.toml h/"), "Cannot mix PUT with other methods\n\n");
    assert_eq!(refused("-i -i h/"), "Cannot mix HEAD with other methods\n\n");
    assert!(
        refused("-p none h/")
            .starts_with("ab: Could not open POST data file (none): No such file or directory")
    );
}

#[test]
fn errors_have_the_wording_of_ab() {
    for (line, told) in [
        ("-h", "usage"),
        ("-V", "version"),
        ("", "ab: wrong number of arguments\nusage"),
        ("h/ x", "ab: wrong number of arguments\nusage"),
        ("h", "ab: invalid URL\nusage"),
        ("-n", "ab: option requires an argument -- n\nab: wrong number of arguments\nusage"),
        ("-n x h/", "Invalid number of requests\n\n"),
        (
            "-c 5 -n 2 h/",
            "ab: Cannot use concurrency level greater than total number of requests\nusage",
        ),
        ("-c -1 h/", "ab: Invalid Concurrency [Range 0..200000]\nusage"),
    ] {
        assert_eq!(refused(line), told, "{line}");
    }
    assert_eq!(parsed("-J h/").unwrap().complaint, "ab: illegal option -- J\n");
}

#[test]
fn progress_is_shown_for_more_than_150_requests() {
    let every = |line: &str| parsed(line).unwrap().progress();
    assert_eq!(every("-n 150 h/"), None);
    assert_eq!(every("-n 151 h/"), Some(100));
    assert_eq!(every("-t 1 h/"), Some(5000));
    assert_eq!(every("-q -n 5000 h/"), None);
}
