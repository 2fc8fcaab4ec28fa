//! Result files that listeners of the plan name, such as View Results Tree with a file.

use super::settings::Settings;
use brunt_jmx::plan::PlanFolder;
use brunt_jmx::{Document, JtlSettings, Role, TestElement};
use brunt_model::SampleRecord;
use std::path::PathBuf;

/// A result file of a listener.
pub struct ListenerFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it holds.
    pub settings: JtlSettings,
    /// The thread group whose samples it lists; None: those of all.
    group: Option<String>,
    /// Samples that failed alone, or those that succeeded alone.
    only: Option<bool>,
}

impl ListenerFile {
    /// Whether it lists a sample.
    pub fn wants(&self, record: &SampleRecord) -> bool {
        let of_group = |group: &String| record.thread_name.rsplit_once(' ').is_some_and(|(name, _)| name == group);
        self.only.is_none_or(|success| record.success == success) && self.group.as_ref().is_none_or(of_group)
    }
}

/// The result files of a plan's listeners.
#[derive(Default)]
pub struct ListenerFiles {
    /// Files that are written.
    pub files: Vec<ListenerFile>,
    /// A sentence for each file that is not written, since it lies where the plan may not write.
    pub left_out: Vec<String>,
}

/// The files of all listeners that are enabled. Names that hold expressions are passed over.
pub fn of(document: &Document, folder: &PlanFolder, settings: &Settings) -> ListenerFiles {
    let listeners = document.enabled_elements().filter(|element| element.role() == Role::Listener);
    let mut names: Vec<String> = settings.options.result_file.iter().cloned().collect();
    let mut found = ListenerFiles::default();
    for listener in listeners {
        let properties = listener.properties();
        let name = properties.text("filename").unwrap_or_default().trim().to_owned();
        if name.is_empty() || name.contains("${") || names.contains(&name) {
            continue;
        }
        match folder.writable(&name) {
            Ok(path) => found.files.push(file(&listener, path, settings)),
            Err(error) => found
                .left_out
                .push(format!("left out: the file `{name}` of the listener `{}`: {error}", listener.name())),
        }
        names.push(name);
    }
    found
}

fn file(listener: &TestElement<'_>, path: PathBuf, settings: &Settings) -> ListenerFile {
    let properties = listener.properties();
    let flag = |name: &str| properties.bool(name).ok().flatten().unwrap_or(false);
    let only = match (flag("ResultCollector.error_logging"), flag("ResultCollector.success_only_logging")) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        _ => None,
    };
    let jtl = match properties.element("saveConfig") {
        Some(saved) => settings.jtl.clone().with_listener(&saved),
        None => settings.jtl.clone(),
    };
    ListenerFile { path, settings: jtl, group: group(listener), only }
}

fn group(element: &TestElement<'_>) -> Option<String> {
    let mut above = element.parent();
    while let Some(element) = above {
        if element.role() == Role::ThreadGroup {
            return Some(element.name().into_owned());
        }
        above = element.parent();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_may_want_failures_of_its_group_alone() {
        let file = ListenerFile {
            path: PathBuf::new(),
            settings: JtlSettings::default(),
            group: Some("Group A".into()),
            only: Some(false),
        };
        let sample =
            |thread: &str, success| SampleRecord { thread_name: thread.into(), success, ..SampleRecord::default() };
        assert!(file.wants(&sample("Group A 1-2", false)));
        assert!(!file.wants(&sample("Group A 1-2", true)));
        assert!(!file.wants(&sample("Group B 2-1", false)));
    }
}
