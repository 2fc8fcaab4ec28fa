//! What functions make of their arguments, and that each of them is in the book.

use super::*;
use crate::template::{Place, RenderContext, Template};
use crate::testing::user;
use crate::variables::Names;
use crate::{Feeds, ScriptError};
use brunt_model::scenario::TextRules;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// A user of these rules, and what texts become for it.
struct Texts {
    rules: TextRules,
    user: UserContext,
}

impl Texts {
    fn new(rules: TextRules) -> Self {
        Self { rules, user: user() }
    }

    fn becomes(&self, text: &str) -> Result<String, ScriptError> {
        let mut feeds = Feeds::with_variables(self.rules, Names::default());
        let template = Template::compile(text, Place::Text, &mut feeds)?;
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        Ok(template.text(&mut RenderContext { n: 0, rng: &mut rng, feeds: &feeds, user: Some(&self.user) }))
    }
}

#[test]
fn each_function_does_what_it_says() {
    let texts = Texts::new(TextRules::Jmeter);
    for (text, expected) in [
        ("${__P(a)} ${__P(a,x)} ${__setProperty(a,7)}${__P(a)} ${__property(a)} ${__property(b,,d)}", "1 x 7 7 d"),
        ("${__isPropDefined(a)} ${__isPropDefined(b)}", "true false"),
        ("${__threadNum} ${__threadGroupName} ${iteration()}", "3 main 1"),
        ("${__intSum(1,2, 3,total)} ${__V(total)} ${__V(none)} ${__V(none,d)}", "6 6 none d"),
        ("${__counter(FALSE)}", "1"),
        ("${__Random(4,4,r)} ${__isVarDefined(r)} ${__isVarDefined(q)}", "4 true false"),
        ("${__RandomString(3,a,s)} ${__V(s)}", "aaa aaa"),
        ("${__chooseRandom(a,a,c)}", "a"),
        ("${__time} ${__time()} ${__time(/1000)} ${timestamp()}", "1780000000123 1780000000123 1780000000 1780000000"),
        ("${__urlencode(a b&c)} ${__urldecode(a+b%26c)} ${base64(a:b)}", "a+b%26c a b&c YTpi"),
        ("${__lowercase(aB)} ${__uppercase(aB)}", "ab AB"),
        ("${__split(a||b,p,|)} ${__V(p_n)} ${__V(p_1)}${__V(p_2)}${__V(p_3)}", "a||b 3 a?b"),
        ("${uniform(0,5)} ${gaussian(0,5)} ${exponential(0,5)}", "5.000 5.000 5.000"),
        ("${nope} ${__nope(1)} {n} $x \\$", "${nope} ${__nope(1)} {n} $x $"),
        ("{n} \\$", "{n} \\$"),
    ] {
        assert_eq!(texts.becomes(text).unwrap(), expected, "{text}");
    }
    assert_eq!(texts.becomes("${__UUID}").unwrap().len(), 36);
}

#[test]
fn scripts_are_run_and_parsed_once() {
    let texts = Texts::new(TextRules::Jmeter);
    texts.user.variables.borrow_mut().set("a", "x");
    for (text, expected) in [
        (r#"${__groovy(vars.get("a") == "x")}"#, "true"),
        (r#"${__groovy("${__V(a)}${__V(a)}".length() + 1,n)}${__V(n)}"#, "33"),
        (r"${__groovy([1\, 2].sum())} ${__groovy(vars.get('none'))}", "3 "),
        ("${__groovy(threadName + ctx.threadNum)}", "main 1-32"),
        ("<${__groovy(1 +)}${__groovy(throw new Exception('x'))}${__groovy(while (true) {})}>", "<>"),
        ("${__BeanShell(7 / 2)} ${__BeanShell(vars.put(\"b\"\\,\"1\");)}${__V(b)}", "3 1"),
        (r#"${__jexl3("${__V(a)}" == "x" && 2 < 10,j)} ${__V(j)} ${__jexl2(none)}"#, "true true "),
    ] {
        assert_eq!(texts.becomes(text).unwrap(), expected, "{text}");
        assert_eq!(texts.becomes(text).unwrap(), expected, "{text}");
    }
}

#[test]
fn a_script_that_cannot_be_read_is_an_error_before_the_load() {
    let texts = Texts::new(TextRules::Expressions);
    let told = texts.becomes("${groovy(1 +)}").unwrap_err().to_string();
    assert!(told.starts_with("`${groovy(1 +)}`: line 1, column ") && told.contains("; write a script that"), "{told}");
    assert!(texts.becomes("${jexl(a b)}").unwrap_err().to_string().contains("`a` is not known in a JEXL expression"));
    assert_eq!(texts.becomes("${groovy(1 + 1)}").unwrap(), "2");
}

#[test]
fn what_is_not_there_is_an_error_in_our_own_texts() {
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
fn each_function_is_in_the_book() {
    let book = include_str!("../../../../docs/scenarios.md");
    for name in all().flat_map(|function| function.names) {
        assert!(book.contains(&format!("`{name}(")), "docs/scenarios.md lacks {name}");
    }
}
