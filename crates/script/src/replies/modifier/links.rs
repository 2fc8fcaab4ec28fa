//! The links and forms of the last page: which of them match a request whose URL and arguments are patterns.

#[cfg(not(feature = "dom"))]
pub use absent::{check_built, follow};
#[cfg(feature = "dom")]
pub use present::{check_built, follow};

#[cfg(feature = "dom")]
mod present {
    use super::super::decoded;
    use crate::texts::context::UserContext;
    use crate::texts::pattern::Pattern;
    use crate::texts::pending::{RequestArgument, RequestPart};
    use crate::texts::script::Sampler;
    use brunt_dom::{Document, Element};
    use rand::RngExt;
    use url::Url;

    /// Where a page leads.
    #[derive(Debug)]
    pub struct Target {
        url: Url,
        arguments: Vec<RequestArgument>,
        is_form: bool,
    }

    /// This program can read pages.
    ///
    /// # Errors
    ///
    /// Never.
    #[expect(clippy::unnecessary_wraps, reason = "programs that are built otherwise have an error")]
    pub fn check_built() -> Result<(), String> {
        Ok(())
    }

    /// Makes of a request one of the links and forms of the user's last page that match it, drawn at random.
    pub fn follow(user: &UserContext, sampler: Sampler<'_>) {
        let Sampler { pending, texts } = sampler;
        let mut matching = {
            let last = user.last.borrow();
            let Some(last) = last.as_ref().filter(|last| last.is_http) else { return };
            let url = last.url.as_deref().and_then(|url| Url::parse(url).ok());
            let (Some(url), Some(page)) = (url, last.details.body.as_deref()) else { return };
            let wanted = Wanted::new(&|part| pending.part(part, texts), pending.arguments(texts));
            let mut all = targets(page, &url);
            all.retain(|target| wanted.is_met(target));
            all
        };
        let draw = |number: usize| user.worker.random.borrow_mut().random_range(0..number);
        if matching.is_empty() {
            return;
        }
        let target = matching.swap_remove(draw(matching.len()));
        if pending.takes_arguments(texts) {
            let mut arguments = pending.arguments(texts).to_vec();
            if target.is_form {
                fill_in(&mut arguments, target.arguments, draw);
            } else {
                arguments = target.arguments;
            }
            pending.set_arguments(arguments, texts);
        }
        pending.set_part(RequestPart::Domain, target.url.host_str().unwrap_or_default(), texts);
        pending.set_part(RequestPart::Path, target.url.path(), texts);
        pending.set_part(RequestPart::Protocol, target.url.scheme(), texts);
    }

    /// The arguments of a request become those of a form whose names and values match, each of the form's once.
    fn fill_in(arguments: &mut [RequestArgument], mut fields: Vec<RequestArgument>, draw: impl Fn(usize) -> usize) {
        for argument in arguments {
            let (name, value) = (Wish::new(&argument.name), Wish::new(&argument.value));
            let is_met = |field: &RequestArgument| name.is_met(&field.name) && value.is_met(&field.value);
            let fitting: Vec<usize> = (0..fields.len()).filter(|at| is_met(&fields[*at])).collect();
            if !fitting.is_empty() {
                let field = fields.remove(fitting[draw(fitting.len())]);
                (argument.name, argument.value) = (field.name, field.value);
            }
        }
    }

    /// A text that another is, or matches as a whole.
    struct Wish {
        text: String,
        pattern: Option<Pattern>,
    }

    impl Wish {
        fn new(text: &str) -> Self {
            Self { text: text.to_owned(), pattern: Pattern::whole(text).ok() }
        }

        fn is_met(&self, text: &str) -> bool {
            self.text == text || self.pattern.as_ref().is_some_and(|pattern| pattern.is_found(text))
        }
    }

    /// A request as patterns.
    struct Wanted {
        protocol: Wish,
        /// None: any.
        domain: Option<Wish>,
        path: Wish,
        /// What the query holds: a name and an equals sign, or a match of the name as an expression.
        names: Vec<(String, Option<Pattern>)>,
    }

    impl Wanted {
        fn new<'p>(part: &dyn Fn(RequestPart) -> &'p str, arguments: &[RequestArgument]) -> Self {
            let (domain, path) = (part(RequestPart::Domain), part(RequestPart::Path));
            // A path that the plan has without a slash has got one.
            let expression = format!("/*{}", path.strip_prefix('/').unwrap_or(path));
            let name = |argument: &RequestArgument| (format!("{}=", argument.name), Pattern::new(&argument.name).ok());
            Self {
                protocol: Wish::new(part(RequestPart::Protocol)),
                domain: (!domain.is_empty()).then(|| Wish::new(domain)),
                path: Wish { text: path.to_owned(), pattern: Pattern::whole(&expression).ok() },
                names: arguments.iter().map(name).collect(),
            }
        }

        fn is_met(&self, Target { url, arguments, .. }: &Target) -> bool {
            let query = query(arguments);
            let has = |(text, pattern): &(String, Option<Pattern>)| {
                query.contains(text) || pattern.as_ref().is_some_and(|pattern| pattern.is_found(&query))
            };
            self.protocol.is_met(url.scheme())
                && self.domain.as_ref().is_none_or(|domain| domain.is_met(url.host_str().unwrap_or_default()))
                && self.path.is_met(url.path())
                && self.names.iter().all(has)
        }
    }

    /// Arguments as a query that nothing is encoded in.
    fn query(arguments: &[RequestArgument]) -> String {
        let named = arguments.iter().filter(|argument| !argument.name.is_empty());
        let pairs = named.map(|RequestArgument { name, value, encode, is_bare }| match (encode, is_bare) {
            (true, _) => format!("{name}={value}"),
            (false, true) => decoded(name),
            (false, false) => format!("{}={}", decoded(name), decoded(value)),
        });
        pairs.collect::<Vec<_>>().join("&")
    }

    /// The links, forms and frames of a page, in this order.
    pub fn targets(page: &str, url: &Url) -> Vec<Target> {
        let page = Document::html(page);
        let named = |name: &'static str| page.elements().filter(move |element| element.is(name));
        let base = named("base").next().and_then(|base| join(url, base.attribute("href")?));
        let base = base.as_ref().unwrap_or(url);
        let links = |name, attribute| {
            let written = named(name).filter_map(move |element: Element<'_>| element.attribute(attribute));
            written.filter_map(|to| Target::new(base, to)).collect::<Vec<_>>()
        };
        let mut all = links("a", "href");
        all.extend(forms(&page, url));
        all.extend(links("frame", "src"));
        all
    }

    /// The forms with their fields. As in JMeter a field belongs to the last form that began before it, and the base of a page
    /// does not count.
    fn forms(page: &Document, url: &Url) -> Vec<Target> {
        let mut forms: Vec<Target> = Vec::new();
        let mut is_in_form = false;
        for element in page.elements() {
            if element.is("form") {
                let form = element.attribute("action").and_then(|action| Target::new(url, action));
                is_in_form = form.is_some();
                forms.extend(form.map(|form| Target { is_form: true, ..form }));
            } else if is_in_form && let (Some(field), Some(form)) = (field(element), forms.last_mut()) {
                form.arguments.push(field);
            }
        }
        forms
    }

    fn field(element: Element<'_>) -> Option<RequestArgument> {
        let attribute = |name: &str| element.attribute(name).unwrap_or_default();
        let (name, value) = if element.is("input") {
            (attribute("name"), attribute("value"))
        } else if element.is("textarea") {
            (attribute("name"), element.first_text())
        } else if element.is("option") {
            let select = element.around("select");
            (select.and_then(|select| select.attribute("name")).unwrap_or_default(), attribute("value"))
        } else {
            return None;
        };
        Some(RequestArgument { name: decoded(name), value: decoded(value), encode: true, is_bare: false })
    }

    impl Target {
        /// None: it leads nowhere.
        fn new(base: &Url, to: &str) -> Option<Self> {
            let url = join(base, to).filter(|url| matches!(url.scheme(), "http" | "https"))?;
            let pairs = url.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
            let argument = |pair: &str| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                let (name, value) = (name.to_owned(), value.to_owned());
                RequestArgument { name, value, encode: false, is_bare: !pair.contains('=') }
            };
            Some(Self { arguments: pairs.map(argument).collect(), url, is_form: false })
        }
    }

    /// A URL as Java resolves it: a query alone is that of the directory.
    fn join(base: &Url, to: &str) -> Option<Url> {
        let to = to.trim();
        if to.starts_with('?') { base.join("./").ok()?.join(to).ok() } else { base.join(to).ok() }
    }
}

#[cfg(not(feature = "dom"))]
mod absent {
    use crate::texts::context::UserContext;
    use crate::texts::script::Sampler;

    /// Refuses links.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn check_built() -> Result<(), String> {
        let how = "released programs have them, and `cargo build --release -p brunt-cli` builds one";
        Err(format!("this brunt was built without links of pages; {how}"))
    }

    /// Nothing.
    pub fn follow(_: &UserContext, _: Sampler<'_>) {}
}
