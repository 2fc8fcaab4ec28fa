//! The modules that a script imports: brunt's own, and files.

use crate::host::Host;
use crate::paths::absolute;
use crate::values::thrown;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Module, Result};
use std::path::Path;
use std::rc::Rc;

/// A module that brunt contains: its name, and its text.
type BuiltIn = (&'static str, &'static str);

/// The modules of k6 that scripts may import.
const MODULES: &[BuiltIn] = &[
    ("k6", include_str!("../js/k6.js")),
    ("k6/http", include_str!("../js/http.js")),
    ("k6/metrics", include_str!("../js/metrics.js")),
    ("k6/data", include_str!("../js/data.js")),
    ("k6/execution", include_str!("../js/execution.js")),
    ("k6/encoding", include_str!("../js/encoding.js")),
    ("k6/crypto", include_str!("../js/crypto.js")),
    ("k6/timers", include_str!("../js/timers.js")),
    ("k6/options", include_str!("../js/none.js")),
];

/// Modules of jslib, by the part of their address before the version.
const JSLIB: &[BuiltIn] = &[
    ("https://jslib.k6.io/k6-utils/", include_str!("../js/jslib/k6-utils.js")),
    ("https://jslib.k6.io/k6-summary/", include_str!("../js/jslib/k6-summary.js")),
    ("https://jslib.k6.io/papaparse/", include_str!("../js/jslib/papaparse.js")),
];

/// What to do instead of a module that brunt does not have.
const REFUSED: &[(&str, &str)] = &[
    ("k6/browser", "brunt drives no browser; send the page's requests with k6/http"),
    ("k6/experimental/browser", "brunt drives no browser; send the page's requests with k6/http"),
    ("k6/x/", "brunt has no extensions of k6; remove what needs it"),
    ("k6/ws", "WebSockets are steps of plan files: docs/websocket.md"),
    ("k6/websockets", "WebSockets are steps of plan files: docs/websocket.md"),
    ("k6/experimental/websockets", "WebSockets are steps of plan files: docs/websocket.md"),
    ("k6/net/grpc", "calls of gRPC are steps of plan files: docs/grpc.md"),
    ("k6/html", "read the body with a regular expression, or findBetween() of k6-utils"),
    (
        "k6/",
        "import one of k6, k6/http, k6/metrics, k6/data, k6/execution, k6/encoding, k6/crypto and k6/timers",
    ),
    (
        "https://",
        "brunt loads no modules from the network; save the file beside the script, and import it as './NAME.js'",
    ),
    (
        "http://",
        "brunt loads no modules from the network; save the file beside the script, and import it as './NAME.js'",
    ),
];

/// Names and texts of the modules that brunt contains.
fn built_in(name: &str) -> Option<&'static str> {
    let own = MODULES.iter().find(|(own, _)| *own == name);
    // Versions of a module of jslib have the same exports, or more.
    let own = own.or_else(|| JSLIB.iter().find(|(start, _)| name.starts_with(start)));
    own.map(|(_, text)| *text)
}

/// Finds the name of an imported module.
pub struct ModuleNames;

impl Resolver for ModuleNames {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        // The modules of brunt come first, so that a script needs no network.
        if built_in(name).is_some() {
            return Ok(name.to_owned());
        }
        if let Some((_, instead)) = REFUSED.iter().find(|(start, _)| name.starts_with(start)) {
            return Err(thrown(ctx, &format!("{base} imports `{name}`: {instead}")));
        }
        // Node's search for packages is a matter of bundlers.
        if !name.starts_with(['.', '/']) && !name.starts_with("file://") {
            let instead = "npm packages must be bundled with the script, for example with esbuild --bundle; a file is imported as './NAME.js'";
            return Err(thrown(ctx, &format!("{base} imports `{name}`: {instead}")));
        }
        Ok(absolute(base, name))
    }
}

/// Reads the text of a module.
pub struct ModuleTexts(pub Rc<Host>);

impl Loader for ModuleTexts {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        if let Some(text) = built_in(name) {
            return Module::declare(ctx.clone(), name, text);
        }
        let text = self.0.module(name).map_err(|why| thrown(ctx, &why))?;
        // `import rows from './rows.json'`
        let is_json = Path::new(name).extension().is_some_and(|end| end == "json");
        let text = if is_json { format!("export default {text};") } else { text };
        Module::declare(ctx.clone(), name, text)
    }
}
