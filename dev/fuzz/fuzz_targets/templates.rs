//! Arbitrary text with placeholders and with expressions, in each place: compiled and filled in, or refused.

#![no_main]

use brunt_script::{Feeds, RenderContext, Template, TextPosition};
use libfuzzer_sys::fuzz_target;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;

fuzz_target!(|text: &str| {
    // Files of data are not read: random names could be those of devices.
    if text.contains("csv:") {
        return;
    }
    for place in [TextPosition::Url, TextPosition::Header, TextPosition::Text] {
        for compile in [Template::compile, Template::compile_expressions] {
            let mut feeds = Feeds::default();
            let Ok(template) = compile(text, place, &mut feeds) else { continue };
            let mut rng = Pcg64Mcg::seed_from_u64(1);
            let mut out = String::new();
            template.render(
                &mut RenderContext { n: 3, rng: &mut rng, feeds: &feeds, user: None },
                &mut out,
            );
        }
    }
});
