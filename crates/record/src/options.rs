//! Options of the conversion of a recording to a plan.

use brunt_har::HarOptions;

/// Options of the conversion.
#[derive(Debug, Clone)]
pub struct PlanOptions {
    /// Server that replaces the recorded one.
    pub base: Option<String>,
    /// Host whose requests are included; None for that of the first page.
    pub site: Option<String>,
    /// Further hosts to include.
    pub hosts: Vec<String>,
    /// Include images, scripts, style sheets and fonts.
    pub keep_static: bool,
    /// Write recorded pauses between pages.
    pub think: bool,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { base: None, site: None, hosts: Vec::new(), keep_static: false, think: true }
    }
}

impl PlanOptions {
    pub(crate) fn import(&self, file: &str) -> HarOptions {
        HarOptions {
            file: file.to_owned(),
            base: self.base.clone(),
            think: self.think,
            resources: self.keep_static,
            site: self.site.clone(),
            hosts: self.hosts.clone(),
        }
    }
}
