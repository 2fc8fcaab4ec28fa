//! Results of functions, and their entries in the documentation.

use super::*;
use crate::testing::user;
use crate::texts::machine::local_offset;
use crate::texts::template::{RenderContext, Template, TextPosition};
use crate::texts::variables::VariableNames;
use crate::{Feeds, ScriptError};
use brunt_model::scenario::TextRules;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// A user of these rules, with the results of texts.
struct Texts {
    rules: TextRules,
    user: UserContext,
}

impl Texts {
    fn new(rules: TextRules) -> Self {
        Self { rules, user: user() }
    }

    fn becomes(&self, text: &str) -> Result<String, ScriptError> {
        let mut feeds =
            Feeds::with_variables(self.rules, VariableNames::default(), Languages::CORE);
        let template = Template::compile(text, TextPosition::Text, &mut feeds)?;
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        Ok(template.text(&mut RenderContext {
            n: 0,
            rng: &mut rng,
            feeds: &feeds,
            user: Some(&self.user),
        }))
    }
}

#[test]
fn each_function_has_its_documented_result() {
    let texts = Texts::new(TextRules::Jmeter);
    for (text, expected) in [
        (
            "${__P(a)} ${__P(a,x)} ${__setProperty(a,7)}${__P(a)} ${__property(a)} ${__property(b,,d)}",
            "1 x 7 7 d",
        ),
        ("${__isPropDefined(a)} ${__isPropDefined(b)}", "true false"),
        ("${__threadNum} ${__threadGroupName} ${iteration()}", "3 main 1"),
        ("${__intSum(1,2, 3,total)} ${__V(total)} ${__V(none)} ${__V(none,d)}", "6 6 none d"),
        (
            "${__doubleSum(1.5,2,x)} ${__V(x)} ${__doubleSum(1e7,5e6)} ${__doubleSum(0,0)}",
            "3.5 3.5 1.5E7 0.0",
        ),
        ("${__isDefined(x)}${__isDefined(none)}", "10"),
        ("${__counter(FALSE)}", "1"),
        ("${__Random(4,4,r)} ${__isVarDefined(r)} ${__isVarDefined(q)}", "4 true false"),
        ("${__RandomString(3,a,s)} ${__V(s)}", "aaa aaa"),
        ("${__chooseRandom(a,a,c)}", "a"),
        (
            "${__time} ${__time()} ${__time(/1000)} ${timestamp()}",
            "1780000000123 1780000000123 1780000000 1780000000",
        ),
        ("${__urlencode(a b&c)} ${__urldecode(a+b%26c)} ${base64(a:b)}", "a+b%26c a b&c YTpi"),
        ("${__lowercase(aB)} ${__uppercase(aB)}", "ab AB"),
        ("${__split(a||b,p,|)} ${__V(p_n)} ${__V(p_1)}${__V(p_2)}${__V(p_3)}", "a||b 3 a?b"),
        ("${uniform(0,5)} ${gaussian(0,5)} ${exponential(0,5)}", "5.000 5.000 5.000"),
        ("${nope} ${__nope(1)} {n} $x \\$", "${nope} ${__nope(1)} {n} $x $"),
        (
            "${__requestUrl(,::1,8080,x)} ${__requestUrl(HTTPS,h,443,)}",
            "http://[::1]:8080/x https://h",
        ),
        ("${__intSum(1,1,__v)} ${__eval(\\${__v})} ${__w}", "2 2 ${__w}"),
        ("{n} \\$", "{n} \\$"),
        (r#"${escapeJson(a"b)} ${json(7)} ${json(x)} ${json(null)}"#, r#"a\"b 7 "x" null"#),
    ] {
        assert_eq!(texts.becomes(text).unwrap(), expected, "{text}");
    }
    assert_eq!(texts.becomes("${__UUID}").unwrap().len(), 36);
}

/// Digests are those of `sha256sum` and its like, dates those of `date -u`.
#[test]
fn texts_are_changed() {
    let texts = Texts::new(TextRules::Jmeter);
    for (name, value) in [("v_matchNr", "2"), ("v_1", "a"), ("v_2", "b"), ("v_3", "old")] {
        texts.user.variables.borrow_mut().set(name, value);
    }
    for (name, value) in [
        ("r", "a=1;b=22;"),
        ("p_1", "x"),
        ("p_matchNr", "1"),
        ("t", "${__V(r)}!"),
        ("self", "<${__evalVar(self)}>"),
    ] {
        texts.user.variables.borrow_mut().set(name, value);
    }
    for (text, expected) in [
        (
            "${__changeCase(aB,LOWER)} ${__changeCase(aB c,CAPITALIZE)} ${__changeCase(aB,,v)}${__V(v)}",
            "ab AB c ABAB",
        ),
        ("${__base64Encode(a:b)} ${__base64Decode(YTpi)} <${__base64Decode(!)}>", "YTpi a:b <>"),
        ("${__digest(MD5,abc)}", "900150983cd24fb0d6963f7d28e17f72"),
        (
            "${__MD5(abc,m)} ${__V(m)}",
            "900150983cd24fb0d6963f7d28e17f72 900150983cd24fb0d6963f7d28e17f72",
        ),
        ("${__digest(SHA-1,a,bc,TRUE)}", "A9993E364706816ABA3E25717850C26C9CD0D89D"),
        ("${__digest(SHA-224,)}", "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"),
        ("<${__digest(none,abc)}>", "<>"),
        ("${__escapeHtml(<é & \"€\">)}", "&lt;&eacute; &amp; &quot;&euro;&quot;&gt;"),
        ("${__unescapeHtml(&lt;&eacute;&#228;&#x20ac;&none;& &amp;)}", "<éä€&none;& &"),
        ("${__escapeXml(<'é' & \"x\">)}", "&lt;&apos;é&apos; &amp; &quot;x&quot;&gt;"),
        (r"${__unescape(a\tb\u00e9\101\ud83d\ude00\\q)}", "a\tbéA😀q"),
        (r"${__escapeOroRegexpChars([a_1].b)}", r"\[a_1\]\.b"),
        ("${__char(65,0x42,0103)}", "ABC"),
        (
            r"${__regexFunction(\w=(\d+),<$1$>,2,,none,m,r)} ${__V(m)} ${__V(m_matchNr)}",
            "<22> <22> 2",
        ),
        (
            r"${__regexFunction(\w=(\d+),$1$,ALL,-,none,,r)} ${__regexFunction(z,$1$,1,,none,,r)}",
            "1-22 none",
        ),
        ("${__RandomFromMultipleVars(p|q,o)}${__V(o)}", "xx"),
        ("${__eval(${__V(t)})} ${__evalVar(t)} <${__evalVar(q)}>", "a=1;b=22;! a=1;b=22;! <>"),
        ("${__evalVar(self)}", "<<<<<<<<<<<<<<<<>>>>>>>>>>>>>>>>"),
        ("${__log(a,INFO)}${__logn(b)}", "a"),
        (
            "${__env(NO_SUCH_VARIABLE)} ${__env(NO_SUCH_VARIABLE,e,d)} ${__V(e)} <${__TestPlanName}>",
            "NO_SUCH_VARIABLE d d <>",
        ),
        ("${__joined(v,-)} <${__joined(none,-)}>", "a-b <>"),
    ] {
        assert_eq!(texts.becomes(text).unwrap(), expected, "{text}");
    }
    assert_eq!(
        texts.becomes("${__env(CARGO_MANIFEST_DIR)}").unwrap(),
        std::env::var("CARGO_MANIFEST_DIR").unwrap()
    );
    assert!(!texts.becomes("${__machineName}").unwrap().is_empty());
    assert!(texts.becomes("${__machineIP()}").unwrap().parse::<std::net::IpAddr>().is_ok());
}

#[test]
fn dates_are_written_and_shifted() {
    let texts = Texts::new(TextRules::Jmeter);
    // 2026-05-28 20:26:40.123 UTC, in any time zone of this machine.
    let now = 1_780_000_000_123;
    let pattern = |pattern: &str| brunt_java::date::DatePattern::parse(pattern).unwrap();
    let local = |text: &str| pattern(text).format(now, local_offset(now));
    assert_eq!(
        texts
            .becomes("${__time(yyyy-MM-dd'T'HH:mm:ss.SSSX,t)} ${__V(t)}")
            .unwrap()
            .split_once(' ')
            .unwrap()
            .0,
        local("yyyy-MM-dd'T'HH:mm:ss.SSSX")
    );
    assert_eq!(
        texts.becomes("${__time(YMDHMS)} <${__time(JJ)}>").unwrap(),
        local("yyyyMMdd-HHmmss") + " <>"
    );
    for (text, expected) in [
        ("${__timeShift(,,P1D,,s)} ${__V(s)}", "1780086400123 1780086400123"),
        ("${__timeShift(yyyy-MM-dd HH:mm,2024-02-28 23:30,PT45M,)}", "2024-02-29 00:15"),
        ("${__timeShift(,1000,-PT1S,)}", "0"),
        ("${__timeShift(yyyy-MM-dd'T'HH:mm:ssX,2024-01-01T00:00:00Z,,)}", "2024-01-01T00:00:00Z"),
        ("${__dateTimeConvert(2024-02-29,yyyy-MM-dd,dd.MM.yy,c)} ${__V(c)}", "29.02.24 29.02.24"),
        ("<${__dateTimeConvert(x,yyyy,dd)}>", "<>"),
        ("${__RandomDate(,2024-02-29,2024-03-01,,d)} ${__V(d)}", "2024-02-29 2024-02-29"),
        ("<${__RandomDate(,2024-02-29,2024-02-29)}>", "<>"),
    ] {
        let expected = if text.contains("ssX") && local_offset(1_704_067_200_000) != 0 {
            continue;
        } else {
            expected
        };
        assert_eq!(texts.becomes(text).unwrap(), expected, "{text}");
    }
    let own = Texts::new(TextRules::Expressions);
    assert!(
        own.becomes("${time(yyyy-JJ)}").unwrap_err().to_string().contains("`JJ` is not supported")
    );
}

#[test]
fn files_below_the_folder_of_the_plan_are_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), "1,\"x,y\"\n2,z\n").unwrap();
    let files = crate::texts::files::Files::below(vec![folder.path().to_owned()]);
    let shared_state = std::sync::Arc::new(crate::texts::context::SharedState::reading(files));
    let mut texts = Texts::new(TextRules::Jmeter);
    texts.user = crate::testing::user_with(shared_state);
    for (text, expected) in [
        (
            "${__CSVRead(a.csv,1)}${__CSVRead(a.csv,0)}${__CSVRead(a.csv,next)}${__CSVRead(a.csv,1)}",
            "\"x1z",
        ),
        ("${__FileToString(a.csv,,f)}${__V(f)}", "1,\"x,y\"\n2,z\n1,\"x,y\"\n2,z\n"),
        (
            "${__FileToString(../a.csv)} ${__StringFromFile(/etc/passwd)} <${__CSVRead(none,0)}>",
            "**ERR** **ERR** <>",
        ),
    ] {
        assert_eq!(texts.becomes(text).unwrap(), expected, "{text}");
    }
    for expected in ["true a\nb", "true a\nba\nb"] {
        assert_eq!(
            texts.becomes(r"${__StringToFile(new.txt,a\nb)} ${__FileToString(new.txt)}").unwrap(),
            expected
        );
    }
    let written = texts
        .becomes("${__StringToFile(new.txt,c,false)}${__StringToFile(/tmp/new.txt,c)}")
        .unwrap();
    assert_eq!(
        (written.as_str(), &*texts.becomes("${__FileToString(new.txt)}").unwrap()),
        ("truefalse", "c")
    );
    std::fs::write(folder.path().join("a.xml"), "<a><b x='1'>one</b><b>two</b></a>").unwrap();
    let next = || {
        texts
            .becomes("${__XPath(a.xml,//b/text())}${__XPath(a.xml,//b/@x)}${__XPath(a.xml,//c)}")
            .unwrap()
    };
    assert_eq!((next(), next(), next()), ("one1".into(), "two1".into(), "one1".into()));
    assert_eq!(texts.becomes("${__StringFromFile(a.csv)}").unwrap(), "1,\"x,y\"");
    assert_eq!(texts.becomes("${__StringFromFile(a.csv)}").unwrap(), "2,z");
}

#[cfg(feature = "javascript")]
#[test]
fn scripts_are_run_and_parsed_once() {
    let texts = Texts::new(TextRules::Jmeter);
    texts.user.variables.borrow_mut().set("a", "x");
    for (text, expected) in [
        (r#"${__javaScript("${__V(a)}${__V(a)}".length + 1,n)}${__V(n)}"#, "33"),
        ("<${__javaScript(1 +)}${__javaScript(nope())}>", "<>"),
    ] {
        assert_eq!(texts.becomes(text).unwrap(), expected, "{text}");
        assert_eq!(texts.becomes(text).unwrap(), expected, "{text}");
    }
}

#[cfg(feature = "javascript")]
#[test]
fn a_script_that_cannot_be_read_is_an_error_before_the_load() {
    let texts = Texts::new(TextRules::Expressions);
    let message = texts.becomes("${javaScript(1 +)}").unwrap_err().to_string();
    assert!(message.starts_with("`${javaScript(1 +)}`: "), "{message}");
    assert!(message.contains("; write one that can be read"), "{message}");
    assert_eq!(texts.becomes("${javaScript(1 + 1)}").unwrap(), "2");
    let message = texts.becomes("${groovy(1 + 1)}").unwrap_err().to_string();
    assert!(
        message.contains("this brunt was built without Groovy; released programs"),
        "{message}"
    );
}

#[test]
fn unknown_names_are_errors_in_texts_of_brunt() {
    let texts = Texts::new(TextRules::Expressions);
    assert_eq!(texts.becomes(r"{n} \${x} ${lowercase(A)}").unwrap(), "0 ${x} a");
    for (text, expected) in [
        (
            "${nope}",
            "`${nope}`: no step, extractor or data file sets this variable; write a step that sets `nope` before",
        ),
        ("${nope()}", "`${nope()}`: there is no function `nope`; write one of P "),
        ("${random(1)}", "does not take 1 arguments; write 2 to 3"),
        ("${uuid(1)}", "does not take 1 arguments; write 0"),
    ] {
        let told = texts.becomes(text).unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
    }
}

/// docs/scenarios.md lists them all.
#[test]
fn each_function_is_documented() {
    let book = include_str!("../../../../../docs/scenarios.md");
    for name in all().flat_map(|function| function.names) {
        assert!(book.contains(&format!("`{name}(")), "docs/scenarios.md lacks {name}");
    }
}
