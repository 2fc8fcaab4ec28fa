//! Edits of single values; random ones are in the tests of `brunt-import`, which has
//! plans of many kinds.

use super::*;

fn set(text: &str, path: &str, value: &str) -> String {
    let value = yaml::parse(&format!("v: {value}"), "value").unwrap();
    edit(text, "plan.yaml", path, Some(&Yaml::from(value.child("v").unwrap())))
        .unwrap_or_else(|error| error.to_string())
}

fn remove(text: &str, path: &str) -> String {
    edit(text, "plan.yaml", path, None).unwrap_or_else(|error| error.to_string())
}

const PLAN: &str = "# A plan.\nload:  # open\n  rate: 50   # requests/s\n  arrivals: 'even'\n\n# What users do.\nscenario:\n  steps:\n  - get: /a  # first\n    name: a\n  - script: |\n      a = 1\n\n      b = 2\n\n  - {think: 1s, x: [1, 2,]}\nrepetitions: 3";

#[test]
fn only_the_value_changes() {
    assert_eq!(set(PLAN, "load.rate", "100"), PLAN.replace("50 ", "100 "));
    assert_eq!(set(PLAN, "load.arrivals", "poisson"), PLAN.replace("'even'", "poisson"));
    assert_eq!(set(PLAN, "scenario.steps[0].get", "'/b: c'"), PLAN.replace("/a ", "\"/b: c\" "));
    assert_eq!(
        set(PLAN, "scenario.steps[1].script", "c"),
        PLAN.replace("|\n      a = 1\n\n      b = 2", "c")
    );
    assert_eq!(
        set(PLAN, "scenario.steps[1].script", "\"x\\ny\\n\""),
        PLAN.replace("a = 1\n\n      b = 2", "x\n      y")
    );
    assert_eq!(set(PLAN, "scenario.steps[2].x[1]", "{a: b}"), PLAN.replace("2,]", "{a: b},]"));
    assert_eq!(set(PLAN, "repetitions", "4"), PLAN.replace("repetitions: 3", "repetitions: 4"));
}

#[test]
fn lists_and_maps_replace_values_and_are_replaced() {
    assert_eq!(set(PLAN, "load.rate", "[1, 2]"), PLAN.replace("50 ", "[1, 2] "));
    assert_eq!(
        set(PLAN, "load", "closed"),
        PLAN.replace(
            "load:  # open\n  rate: 50   # requests/s\n  arrivals: 'even'\n",
            "load: closed  # open\n"
        )
    );
    assert_eq!(
        set(PLAN, "repetitions", "{steps: [{get: /x, name: y}]}"),
        PLAN.replace("repetitions: 3", "repetitions:\n  steps:\n  - get: /x\n    name: y")
    );
    assert_eq!(set("a:\n  - b\n  - c: 1\n    d: 2\n", "a[1]", "x"), "a:\n  - b\n  - x\n");
    assert_eq!(
        set("a:\n- b\n", "a[0]", "{c: {e: {f: [{g: 1}]}}}"),
        "a:\n- c:\n    e:\n      f:\n      - g: 1\n"
    );
}

#[test]
fn keys_and_items_are_added_at_the_end() {
    assert_eq!(set(PLAN, "load.duration", "5s"), PLAN.replace("'even'", "'even'\n  duration: 5s"));
    assert_eq!(
        set(PLAN, "connection.http1.0", "true"),
        format!("{PLAN}\nconnection: {{http1.0: true}}")
    );
    assert_eq!(
        set(PLAN, "scenario.headers[\"X.Y\"]", "z"),
        PLAN.replace("\nrep", "\n  headers: {X.Y: z}\nrep")
    );
    assert_eq!(
        set(PLAN, "scenario.steps[0].query", "{a: b}"),
        PLAN.replace("name: a", "name: a\n    query: {a: b}")
    );
    assert_eq!(set(PLAN, "scenario.steps[2].y", "1"), PLAN.replace("2,]}", "2,], y: 1}"));
    assert_eq!(
        set(PLAN, "scenario.steps[3]", "{get: /c}"),
        PLAN.replace("2,]}", "2,]}\n  - get: /c")
    );
    assert_eq!(set("a:\n  b:   # none\nc: {}\n", "a.b", "1"), "a:\n  b: 1   # none\nc: {}\n");
    assert_eq!(set("a:\n  b:   # none\nc: {}\n", "c.d", "1"), "a:\n  b:   # none\nc: {d: 1}\n");
    assert_eq!(set("{a: 1, b}", "b", "2"), "{a: 1, b: 2}");
    assert_eq!(set("", "load.rate", "5"), "load: {rate: 5}\n");
    assert_eq!(set("# only a comment", "a", "5"), "# only a comment\na: 5\n");
}

#[test]
fn keys_and_items_are_removed_with_their_lines() {
    assert_eq!(remove(PLAN, "load.rate"), PLAN.replace("\n  rate: 50   # requests/s", ""));
    assert_eq!(remove(PLAN, "scenario.steps[0].get"), PLAN.replace("get: /a  # first\n    ", ""));
    assert_eq!(
        remove(PLAN, "scenario.steps[0]"),
        PLAN.replace("\n  - get: /a  # first\n    name: a", "")
    );
    assert_eq!(remove(PLAN, "scenario.steps[2].x[1]"), PLAN.replace("[1, 2,]", "[1,]"));
    assert_eq!(remove("a: 1\nb: 2\n", "a"), "b: 2\n");
    assert_eq!(remove("a:\n  b: 1\n", "a.b"), "a: {}\n");
    assert_eq!(remove("a: {b: 1}\n", "a"), "{}\n");
}

#[test]
fn line_breaks_and_marks_stay() {
    assert_eq!(set("a: 1\r\nb:\r\n  c: 2\r\n", "b.d", "3"), "a: 1\r\nb:\r\n  c: 2\r\n  d: 3\r\n");
    assert_eq!(remove("a: 1\r\nb:\r\n  c: 2\r\n", "b"), "a: 1\r\n");
    assert_eq!(set("\u{feff}a: ü${x}\nb: {c: ${y}}", "b.c", "1"), "\u{feff}a: ü${x}\nb: {c: 1}");
    assert_eq!(set("a: \t1\t# x\nb: 2", "a", "3"), "a: \t3\t# x\nb: 2");
}

#[test]
fn edits_that_would_change_other_values_are_refused() {
    let shared = "a: &x {b: 1}\nc: *x\nd: 5\n";
    let errors = [
        set(shared, "a.b", "2"),
        set(shared, "c.b", "2"),
        remove(shared, "a"),
        set(shared, "d.e", "1"),
        set(shared, "d[0]", "1"),
        set("a: [1]", "a[2]", "1"),
        remove("a: 1", "b"),
        set("a: 1", "a..b", "1"),
        set("a: 1", "a[x]", "1"),
        set("a: [", "a", "1"),
    ];
    insta::assert_snapshot!(errors.join("\n"), @r"
    plan.yaml: a.b: the value has an anchor, so its aliases would change with it; edit the file by hand
    plan.yaml: c.b: the value is an alias for another value; edit the file by hand
    plan.yaml: a: the value has an anchor, so its aliases would change with it; edit the file by hand
    plan.yaml: d.e: there is no value; a key can be added only to a map, an item only after the last one
    plan.yaml: d[0]: there is no value; a key can be added only to a map, an item only after the last one
    plan.yaml: a[2]: there is no value; a key can be added only to a map, an item only after the last one
    plan.yaml: b: there is no value; a key can be added only to a map, an item only after the last one
    plan.yaml: a..b: malformed path; write one such as load.rate or scenario.steps[0].get
    plan.yaml: a[x]: malformed path; write one such as load.rate or scenario.steps[0].get
    plan.yaml:1:5: invalid YAML: while parsing a node, did not find expected node content; check the indentation, quotes and brackets here and above
    ");
    assert_eq!(set(shared, "d", "6"), shared.replace('5', "6"));
}

/// Moves or removes an item, as forms do.
fn without_item(text: &str, path: &str) -> String {
    super::remove(text, "plan.yaml", path).unwrap_or_else(|error| error.to_string())
}

fn with_item(text: &str, list: &str, index: usize, path: &str) -> String {
    let item = item(text, "plan.yaml", path).unwrap();
    insert(text, "plan.yaml", list, index, &item).unwrap_or_else(|error| error.to_string())
}

#[test]
fn lines_of_a_text_are_no_comments_of_the_next_item() {
    let text = "steps:\n- script: |\n    a()\n    # kept\n- get: /\n# of the last\n- get: /b\n";
    assert_eq!(
        without_item(text, "steps[1]"),
        "steps:\n- script: |\n    a()\n    # kept\n# of the last\n- get: /b\n"
    );
    assert_eq!(
        with_item(text, "steps", 0, "steps[1]"),
        text.replace("steps:\n", "steps:\n- get: /\n")
    );
    assert_eq!(without_item(text, "steps[2]"), text.replace("# of the last\n- get: /b\n", ""));
    let quoted = "a:\n- 'x\n\n  # y'\n- z\n";
    assert_eq!(without_item(quoted, "a[1]"), "a:\n- 'x\n\n  # y'\n");
}

#[test]
fn items_move_within_all_kinds_of_lists() {
    let nested = "shuffle:\n# first group\n- - get: /a\n  - get: /b\n";
    assert_eq!(without_item(nested, "shuffle[0][0]"), "shuffle:\n# first group\n- - get: /b\n");
    assert_eq!(
        with_item(nested, "shuffle[0]", 0, "shuffle[0][1]"),
        "shuffle:\n# first group\n- - get: /b\n  - get: /a\n  - get: /b\n"
    );
    let flow = "steps: [{get: /a},\n  {get: /b}]\n";
    assert_eq!(
        with_item(flow, "steps", 1, "steps[0]"),
        "steps: [{get: /a},\n  {get: /a}, {get: /b}]\n"
    );
    let windows = "steps:\r\n# a\r\n- get: /a\r\n- get: /b\r\n";
    assert_eq!(
        with_item(windows, "steps", 2, "steps[0]"),
        "steps:\r\n# a\r\n- get: /a\r\n- get: /b\r\n# a\r\n- get: /a\r\n"
    );
    let null = "load: {rate: 5}\nsteps:\nother:\n- get: /\n";
    assert_eq!(
        with_item(null, "steps", 0, "other[0]"),
        "load: {rate: 5}\nsteps:\n- get: /\nother:\n- get: /\n"
    );
    assert!(with_item(null, "load", 0, "other[0]").contains("no list"));
    assert!(with_item(null, "other", 5, "other[0]").contains("1 items"));
}

#[test]
fn keys_are_renamed() {
    let renamed = |text: &str, path: &str, name: &str| {
        rename(text, "plan.yaml", path, name).unwrap_or_else(|error| error.to_string())
    };
    let text = "a: 1  # one\n\"b c\": {x: 2, y: 3}\n";
    assert_eq!(renamed(text, "a", "new"), text.replace("a: 1", "new: 1"));
    assert_eq!(renamed(text, "b c", "b c"), text);
    assert_eq!(renamed(text, "b c.x", "z: #"), text.replace("{x:", "{\"z: #\":"));
    assert!(renamed(text, "a", "b c").contains("exists already"));
}
