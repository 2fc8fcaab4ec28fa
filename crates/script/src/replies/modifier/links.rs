//! Selects a link or form of the last page that matches a request with patterns as
//! its URL and arguments.

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
    use crate::texts::script::ScriptedRequest;
    use brunt_dom::{Document, Element};
    use rand::RngExt;
    use url::Url;

    /// A link, form or frame of a page.
    #[derive(Debug)]
    pub struct LinkTarget {
        url: Url,
        arguments: Vec<RequestArgument>,
        is_form: bool,
    }

    /// Returns Ok, because this program can parse pages.
    ///
    /// # Errors
    ///
    /// Never: this program has the feature.
    #[expect(clippy::unnecessary_wraps, reason = "programs that are built otherwise have an error")]
    pub fn check_built() -> Result<(), String> {
        Ok(())
    }

    /// Changes a request to one of the matching links and forms of the user's last
    /// page, drawn at random.
    pub fn follow(user: &UserContext, sampler: ScriptedRequest<'_>) {
        let ScriptedRequest { pending, texts } = sampler;
        let mut matching = {
            let last = user.last.borrow();
            let Some(last) = last.as_ref().filter(|last| last.is_http) else { return };
            let url = last.url.as_deref().and_then(|url| Url::parse(url).ok());
            let (Some(url), Some(page)) = (url, last.details.body.as_deref()) else { return };
            let request =
                RequestPatterns::new(&|part| pending.part(part, texts), pending.arguments(texts));
            let mut all = targets(page, &url);
            all.retain(|target| request.matches(target));
            all
        };
        if matching.is_empty() {
            return;
        }
        let target = matching.swap_remove(draw(user, matching.len()));
        if pending.takes_arguments(texts) {
            let mut arguments = pending.arguments(texts).to_vec();
            if target.is_form {
                fill_in(&mut arguments, target.arguments, user);
            } else {
                arguments = target.arguments;
            }
            pending.set_arguments(arguments, texts);
        }
        // As in JMeter, the request keeps the plan's port.
        pending.set_part(RequestPart::Domain, target.url.host_str().unwrap_or_default(), texts);
        pending.set_part(RequestPart::Path, target.url.path(), texts);
        pending.set_part(RequestPart::Protocol, target.url.scheme(), texts);
    }

    /// Draws an index below `count`.
    fn draw(user: &UserContext, count: usize) -> usize {
        user.worker.random.borrow_mut().random_range(0..count)
    }

    /// Replaces the arguments of a request by the matching fields of a form; each
    /// field is used once.
    fn fill_in(
        arguments: &mut [RequestArgument],
        mut fields: Vec<RequestArgument>,
        user: &UserContext,
    ) {
        for argument in arguments {
            let name = TextPattern::new(&argument.name);
            let value = TextPattern::new(&argument.value);
            let matching: Vec<usize> = (0..fields.len())
                .filter(|index| {
                    name.matches(&fields[*index].name) && value.matches(&fields[*index].value)
                })
                .collect();
            if !matching.is_empty() {
                let field = fields.remove(matching[draw(user, matching.len())]);
                argument.name = field.name;
                argument.value = field.value;
            }
        }
    }

    /// A text that matches equal texts, and, as a regular expression, whole texts.
    struct TextPattern {
        text: String,
        pattern: Option<Pattern>,
    }

    impl TextPattern {
        fn new(text: &str) -> Self {
            Self { text: text.to_owned(), pattern: Pattern::whole(text).ok() }
        }

        fn matches(&self, text: &str) -> bool {
            self.text == text || self.pattern.as_ref().is_some_and(|pattern| pattern.is_found(text))
        }
    }

    /// A request with patterns as its parts.
    struct RequestPatterns {
        protocol: TextPattern,
        /// None: any domain.
        domain: Option<TextPattern>,
        path: TextPattern,
        /// Required parts of the query: a name with an equals sign, or a match of the
        /// name as an expression.
        names: Vec<(String, Option<Pattern>)>,
    }

    impl RequestPatterns {
        fn new<'p>(part: &dyn Fn(RequestPart) -> &'p str, arguments: &[RequestArgument]) -> Self {
            let domain = part(RequestPart::Domain);
            let path = part(RequestPart::Path);
            let names = arguments
                .iter()
                .map(|argument| (format!("{}=", argument.name), Pattern::new(&argument.name).ok()));
            // A path without a slash in the plan has one here.
            let expression = format!("/*{}", path.strip_prefix('/').unwrap_or(path));
            Self {
                protocol: TextPattern::new(part(RequestPart::Protocol)),
                domain: (!domain.is_empty()).then(|| TextPattern::new(domain)),
                path: TextPattern {
                    text: path.to_owned(),
                    pattern: Pattern::whole(&expression).ok(),
                },
                names: names.collect(),
            }
        }

        fn matches(&self, LinkTarget { url, arguments, .. }: &LinkTarget) -> bool {
            let query = query(arguments);
            self.protocol.matches(url.scheme())
                && self
                    .domain
                    .as_ref()
                    .is_none_or(|domain| domain.matches(url.host_str().unwrap_or_default()))
                && self.path.matches(url.path())
                && self.names.iter().all(|(text, pattern)| {
                    query.contains(text)
                        || pattern.as_ref().is_some_and(|pattern| pattern.is_found(&query))
                })
        }
    }

    /// Formats arguments as a query without encoding.
    fn query(arguments: &[RequestArgument]) -> String {
        let named_arguments = arguments.iter().filter(|argument| !argument.name.is_empty());
        let pairs =
            named_arguments.map(|RequestArgument { name, value, encode, is_bare }| {
                match (encode, is_bare) {
                    (true, _) => format!("{name}={value}"),
                    (false, true) => decoded(name),
                    (false, false) => format!("{}={}", decoded(name), decoded(value)),
                }
            });
        pairs.collect::<Vec<_>>().join("&")
    }

    /// Returns the links, forms and frames of a page, in this order.
    pub fn targets(page: &str, url: &Url) -> Vec<LinkTarget> {
        let page = Document::html(page);
        let base = page.elements().find(|element| element.has_name("base"));
        let base = base.and_then(|base| join(url, base.attribute("href")?));
        let base = base.as_ref().unwrap_or(url);
        let mut all = links(&page, base, "a", "href");
        all.extend(forms(&page, url));
        all.extend(links(&page, base, "frame", "src"));
        all
    }

    fn links(
        page: &Document,
        base: &Url,
        name: &'static str,
        attribute: &'static str,
    ) -> Vec<LinkTarget> {
        let elements = page.elements().filter(|element| element.has_name(name));
        let links = elements.filter_map(|element: Element<'_>| element.attribute(attribute));
        links.filter_map(|link| LinkTarget::new(base, link)).collect()
    }

    /// Returns the forms with their fields. As in JMeter, a field belongs to the last form that
    /// began before it, and the base of a page is ignored.
    fn forms(page: &Document, url: &Url) -> Vec<LinkTarget> {
        let mut forms: Vec<LinkTarget> = Vec::new();
        let mut is_in_form = false;
        for element in page.elements() {
            if element.has_name("form") {
                let form =
                    element.attribute("action").and_then(|action| LinkTarget::new(url, action));
                // Fields after a form without a target belong to no form.
                is_in_form = form.is_some();
                forms.extend(form.map(|form| LinkTarget { is_form: true, ..form }));
            } else if is_in_form
                && let (Some(field), Some(form)) = (field(element), forms.last_mut())
            {
                form.arguments.push(field);
            }
        }
        forms
    }

    fn field(element: Element<'_>) -> Option<RequestArgument> {
        let (name, value) = if element.has_name("input") {
            (attribute(element, "name"), attribute(element, "value"))
        } else if element.has_name("textarea") {
            (attribute(element, "name"), element.first_text())
        } else if element.has_name("option") {
            // An option is a field with the name of its `select`.
            let select = element.nearest_ancestor("select");
            (
                select.and_then(|select| select.attribute("name")).unwrap_or_default(),
                attribute(element, "value"),
            )
        } else {
            return None;
        };
        Some(RequestArgument {
            name: decoded(name),
            value: decoded(value),
            encode: true,
            is_bare: false,
        })
    }

    fn attribute<'e>(element: Element<'e>, name: &str) -> &'e str {
        element.attribute(name).unwrap_or_default()
    }

    impl LinkTarget {
        /// Resolves a link. None: it has no HTTP URL.
        fn new(base: &Url, link: &str) -> Option<Self> {
            let url = join(base, link).filter(|url| matches!(url.scheme(), "http" | "https"))?;
            let pairs = url.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
            let arguments = pairs.map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                let is_bare = !pair.contains('=');
                RequestArgument {
                    name: name.to_owned(),
                    value: value.to_owned(),
                    encode: false,
                    is_bare,
                }
            });
            Some(Self { arguments: arguments.collect(), url, is_form: false })
        }
    }

    /// Resolves a URL as Java does: a query alone refers to the directory.
    fn join(base: &Url, link: &str) -> Option<Url> {
        let link = link.trim();
        if link.starts_with('?') {
            base.join("./").ok()?.join(link).ok()
        } else {
            base.join(link).ok()
        }
    }
}

#[cfg(not(feature = "dom"))]
mod absent {
    use crate::texts::context::UserContext;
    use crate::texts::script::ScriptedRequest;

    /// Refuses links: this program cannot parse pages.
    ///
    /// # Errors
    ///
    /// Always, because the feature is missing.
    pub fn check_built() -> Result<(), String> {
        let how =
            "released programs have them, and `cargo build --release -p brunt-cli` builds one";
        Err(format!("this brunt was built without links of pages; {how}"))
    }

    /// Does nothing, because no link is compiled.
    pub fn follow(_: &UserContext, _: ScriptedRequest<'_>) {}
}
