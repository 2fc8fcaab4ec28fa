//! Builds the requests of a command line.

use super::Reader;
use super::data;
use super::glob;
use crate::urls::in_folder;
use brunt_har::body::{self, FORM, JSON, MULTIPART};
use brunt_har::error::ImportError;
use brunt_har::plan::{BodyPiece, FileContent, ImportedBody, ImportedRequest};
use brunt_har::server::{self, Address};
use brunt_har::text;

impl Reader<'_> {
    /// Adds one request for each URL.
    pub(super) fn add_requests(&mut self) -> Result<(), ImportError> {
        if self.urls.is_empty() {
            return Err(
                self.error("the command has no URL", "write one such as http://127.0.0.1:8080/")
            );
        }
        self.check_bodies()?;
        if self.as_query && !self.queries.is_empty() {
            let wrong = "of -G and --url-query, versions of curl send one or both";
            return Err(self.error(wrong, "write all parameters with --url-query, and no -G"));
        }
        if self.range.is_some() && self.has_body() {
            self.comments.push(
                "left out: -r, which curl turns into another field where a body is sent".to_owned(),
            );
        }
        if self.proxy_user && self.connection.iter().any(|(key, _)| *key == "proxy") {
            return Err(self.error(
                "the proxy needs a password, which plans do not have",
                "leave out -x and -U",
            ));
        }
        // `--max-redirs` has an effect only together with `-L`.
        self.follow = self.max_redirects.filter(|_| self.follow > 0).unwrap_or(self.follow);
        let is_read_only =
            self.method.as_ref().is_some_and(|method| ["GET", "HEAD"].contains(&method.as_str()));
        let has_fields = self.has_body() && self.is_given("content-type");
        self.repeats_method =
            self.follow > 0 && (self.method.is_some() && !is_read_only || has_fields);
        if self.prefers_http2 {
            // Without TLS, curl asks for an upgrade; with TLS, ALPN decides.
            let is_plain = self.urls.iter().all(|url| !url.starts_with("https"));
            let choice = if is_plain { ("h2c_upgrade", "true") } else { ("http", "2") };
            self.connection.push((choice.0, vec![choice.1.to_owned()]));
        }
        for (number, pattern) in self.urls.clone().iter().enumerate() {
            let urls =
                if self.has_globs { glob::expand(pattern) } else { Ok(vec![pattern.clone()]) };
            for url in urls.map_err(|(wrong, instead)| self.error(wrong, instead))? {
                let (request, changes) = self.request(&url, self.uploads.get(number))?;
                let comments = self.comments.iter().cloned().chain(changes).collect();
                self.requests.push((comments, request));
            }
        }
        Ok(())
    }

    fn has_body(&self) -> bool {
        !self.parts.is_empty()
            || !self.uploads.is_empty()
            || !self.data.is_empty() && !self.as_query
    }

    /// Refuses bodies that exclude each other.
    fn check_bodies(&self) -> Result<(), ImportError> {
        let has_data = !self.data.is_empty() && !self.as_query;
        let bodies = [has_data, !self.parts.is_empty(), !self.uploads.is_empty(), self.only_head];
        if bodies.iter().filter(|is_used| **is_used).count() > 1 {
            return Err(
                self.error("curl refuses more than one of -d, -F, -T and -I", "write one of them")
            );
        }
        let has_type = self.headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("content-type")
                && !value.to_ascii_lowercase().starts_with(MULTIPART)
        });
        if !self.parts.is_empty() && (has_type || self.is_removed("content-type")) {
            let wrong = "`-H Content-Type` makes something else than a form of the parts of -F";
            return Err(self.error(wrong, "leave out the header field"));
        }
        Ok(())
    }

    /// Builds a request. Also returns a note on a change that the user must know.
    fn request(
        &self,
        url: &str,
        upload: Option<&String>,
    ) -> Result<(ImportedRequest, Option<String>), ImportError> {
        let mut address = server::parse(url)
            .map_err(|wrong| self.error(wrong, "write a URL such as http://127.0.0.1:8080/path"))?;
        if address.server.is_empty() {
            return Err(
                self.error(format!("`{url}` has no server"), format!("write http://HOST{url}"))
            );
        }
        let in_query = if self.as_query { &self.data } else { &self.queries };
        if !in_query.is_empty() {
            let data =
                data::as_text(in_query).map_err(|(wrong, instead)| self.error(wrong, instead))?;
            let query = address.query.take().unwrap_or_default();
            let separator = if query.is_empty() || query.ends_with('&') { "" } else { "&" };
            address.query = Some(format!("{query}{separator}{data}"));
        }
        let mut request = ImportedRequest {
            headers: self.fields(),
            timeout: self.timeout,
            ..ImportedRequest::default()
        };
        if let Some(file) = upload {
            self.upload(file, &mut address, &mut request)?;
        } else if !self.as_query {
            self.body(&mut request)?;
        }
        // Another `-H` may set a field that one removes.
        request.headers.retain(|(name, _)| !self.is_removed(name) || self.is_given(name));
        self.credentials(&mut request, address.basic.as_ref())?;
        let default = match &request.body {
            _ if self.only_head => "HEAD",
            _ if upload.is_some() => "PUT",
            ImportedBody::None => "GET",
            _ => "POST",
        };
        request.method = self.method.clone().unwrap_or_else(|| default.to_owned());
        let change = server::changed_target(&address, self.is_path_kept);
        let change = change
            .map(|(target, sent)| format!("curl asks for {target}, and this plan for {sent}"));
        request.query = address.query.as_deref().map(body::pairs).unwrap_or_default();
        request.raw_query = address.query;
        request.server = address.server;
        request.path = address.path;
        Ok((request, change))
    }

    /// Builds the header fields. A field of `-H` overrides that of another option.
    fn fields(&self) -> Vec<(String, String)> {
        let has_cookies = !self.cookies.is_empty() && !self.is_given("cookie");
        // Without a space, as curl joins the values of several `-b`.
        let cookies = has_cookies.then(|| self.cookies.join(";"));
        let bearer = self.bearer.as_ref().map(|token| format!("Bearer {token}"));
        let options = [
            ("Accept-Encoding", self.is_compressed.then(|| "deflate, gzip".to_owned())),
            // An empty value of `-A` or `-e` removes the field.
            ("User-Agent", self.user_agent.clone().filter(|text| !text.is_empty())),
            ("Referer", self.referer.clone().filter(|text| !text.is_empty())),
            ("Range", self.range.clone().filter(|_| !self.has_body())),
            ("Authorization", bearer),
        ];
        let option_fields =
            options.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let mut fields: Vec<_> = option_fields.filter(|(name, _)| !self.is_given(name)).collect();
        fields.extend(cookies.map(|cookies| ("Cookie".to_owned(), cookies)));
        fields.extend(self.headers.iter().cloned());
        fields
    }

    fn is_given(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    fn is_removed(&self, name: &str) -> bool {
        self.removed.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Sets the credentials with curl's scheme. A different scheme could expose the password.
    fn credentials(
        &self,
        request: &mut ImportedRequest,
        in_url: Option<&String>,
    ) -> Result<(), ImportError> {
        if self.is_given("authorization") {
            return Ok(());
        }
        if self.bearer.is_some() {
            // curl sends the token at once only if no other scheme is allowed,
            // and then it ignores -u.
            return match self.schemes.first() {
                None => Ok(()),
                Some(scheme) => Err(self.error(
                    format!("with `--oauth2-bearer` and `--{scheme}`, the server chooses what curl sends"),
                    "write one of them",
                )),
            };
        }
        let Some(user) = self.user.as_ref().or(in_url) else { return Ok(()) };
        match self.schemes[..] {
            [] | ["basic"] => request.basic = Some(user.clone()),
            ["digest"] => request.digest = Some(user.clone()),
            _ => {
                let other =
                    self.schemes.iter().find(|scheme| !["basic", "digest"].contains(scheme));
                let wrong = format!(
                    "`--{}` is a way of authentication that plans do not have",
                    other.unwrap_or(&"digest --basic")
                );
                return Err(
                    self.error(wrong, "write --basic or --digest, whichever the server takes")
                );
            }
        }
        Ok(())
    }

    /// Sets the file of `-T` as body. If the path ends with a slash, the file's name is appended.
    fn upload(
        &self,
        file: &str,
        address: &mut Address,
        request: &mut ImportedRequest,
    ) -> Result<(), ImportError> {
        if ["-", "."].contains(&file) {
            return Err(
                self.error("standard input is the body", "write the name of a file after -T")
            );
        }
        if self.has_globs && file.contains(['{', '[']) {
            return Err(self.error(
                format!("`-T {file}` names several files"),
                "write a command for each file",
            ));
        }
        if !self.is_path_kept && address.path.starts_with('/') {
            address.path = server::without_dot_segments(&address.path);
        }
        if address.path.ends_with('/') && text::has_variable(file) {
            return Err(self.error(
                format!(
                    "`-T {file}` adds the name of the file to the URL, but the name is a variable"
                ),
                "write the URL with the name of the file",
            ));
        }
        if address.path.ends_with('/') {
            let name = file.rsplit('/').next().unwrap_or_default();
            address.path.push_str(&data::percent_encode(name));
            // curl rebuilds the URL without an empty query.
            address.query.take_if(|query| query.is_empty());
        }
        let file = in_folder(file, &self.folder);
        request.body =
            ImportedBody::Pieces(vec![BodyPiece::File { file, content: FileContent::Unchanged }]);
        Ok(())
    }

    fn body(&self, request: &mut ImportedRequest) -> Result<(), ImportError> {
        if !self.parts.is_empty() {
            request.body = ImportedBody::Multipart(self.parts.clone());
            return Ok(());
        }
        if self.data.is_empty() {
            return Ok(());
        }
        let defaults: &[(&str, &str)] = if self.is_json {
            &[("Content-Type", JSON), ("Accept", JSON)]
        } else {
            &[("Content-Type", FORM)]
        };
        for (name, value) in defaults {
            if !self.is_given(name) && !self.is_removed(name) {
                request.headers.push(((*name).to_owned(), (*value).to_owned()));
            }
        }
        // An empty type prevents the keys `form` and `json`, which would add a type.
        let kind = request.header("content-type").unwrap_or_default();
        request.body =
            data::body(&self.data, kind).map_err(|(wrong, instead)| self.error(wrong, instead))?;
        Ok(())
    }
}
