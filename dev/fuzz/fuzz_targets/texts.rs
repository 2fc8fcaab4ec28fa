//! Arbitrary text as a text of a plan of JMeter, filled in, with the functions and scripts that it calls, and as a script of each
//! language: filled in or run within bounds, or refused.

#![no_main]

use brunt_groovy::{Dialect, Script};
use brunt_languages::LANGUAGES;
use brunt_script::BeforeRun;
use brunt_script::template::call_of;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let variables = [("a".to_owned(), "1".to_owned()), ("b".to_owned(), text.to_owned())];
    let before = BeforeRun::new(LANGUAGES, &variables, &[], Vec::new(), 1);
    let _ = before.text(text);
    for function in ["groovy", "javaScript", "jexl3"] {
        if let Some(call) = call_of(function, &[text]) {
            let _ = before.text(&call);
        }
    }
    for dialect in [Dialect::Groovy, Dialect::BeanShell] {
        if let Ok(script) = Script::parse(text, dialect) {
            let _ = script.unsupported();
        }
    }
});
