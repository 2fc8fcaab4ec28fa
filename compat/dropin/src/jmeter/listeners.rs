//! Finds the result files that listeners of the plan name, such as View Results Tree with a file.

use super::settings::JmeterSettings;
use brunt_jmx::plan::PlanFolder;
use brunt_jmx::{JmxDocument, JtlSettings, Role, TestElement};
use brunt_model::SampleRecord;
use std::path::PathBuf;

/// A result file of a listener.
pub struct ListenerFile {
    pub path: PathBuf,
    pub settings: JtlSettings,
    /// The file lists only samples of this thread group; None means all.
    group: Option<String>,
    /// Lists only successful samples (`true`) or only failed ones (`false`).
    only_success: Option<bool>,
}

impl ListenerFile {
    /// True if the file lists this sample.
    pub fn includes(&self, record: &SampleRecord) -> bool {
        // A thread's name is its group's name, a blank, and two numbers.
        let record_group = record.thread_name.rsplit_once(' ').map(|(group, _)| group);
        self.only_success.is_none_or(|success| record.success == success)
            && self.group.as_ref().is_none_or(|group| record_group == Some(group))
    }
}

/// The result files of a plan's listeners.
#[derive(Default)]
pub struct ListenerFiles {
    pub files: Vec<ListenerFile>,
    /// One sentence for each file that is not written because the plan may not write there.
    pub left_out: Vec<String>,
}

/// Finds the files of all enabled listeners. Names that contain expressions are ignored.
pub fn find(
    document: &JmxDocument,
    folder: &PlanFolder,
    settings: &JmeterSettings,
) -> ListenerFiles {
    let listeners = document.enabled_elements().filter(|element| element.role() == Role::Listener);
    // The file of `-l` is written anyway.
    let mut names: Vec<String> = settings.options.result_file.iter().cloned().collect();
    let mut result = ListenerFiles::default();
    for listener in listeners {
        let properties = listener.properties();
        let name = properties.text("filename").unwrap_or_default().trim().to_owned();
        if name.is_empty() || name.contains("${") || names.contains(&name) {
            continue;
        }
        match folder.writable(&name) {
            Ok(path) => result.files.push(file(&listener, path, settings)),
            Err(error) => result.left_out.push(format!(
                "left out: the file `{name}` of the listener `{}`: {error}",
                listener.name()
            )),
        }
        names.push(name);
    }
    result
}

fn file(listener: &TestElement<'_>, path: PathBuf, settings: &JmeterSettings) -> ListenerFile {
    let properties = listener.properties();
    let logs_errors =
        properties.bool("ResultCollector.error_logging").ok().flatten().unwrap_or(false);
    let logs_successes =
        properties.bool("ResultCollector.success_only_logging").ok().flatten().unwrap_or(false);
    let only_success = match (logs_errors, logs_successes) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        _ => None,
    };
    let jtl = match properties.element("saveConfig") {
        Some(config) => settings.jtl.clone().with_listener(&config),
        None => settings.jtl.clone(),
    };
    ListenerFile { path, settings: jtl, group: group(listener), only_success }
}

fn group(element: &TestElement<'_>) -> Option<String> {
    let mut ancestor = element.parent();
    while let Some(element) = ancestor {
        if element.role() == Role::ThreadGroup {
            return Some(element.name().into_owned());
        }
        ancestor = element.parent();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_may_record_only_failures_of_its_group() {
        let file = ListenerFile {
            path: PathBuf::new(),
            settings: JtlSettings::default(),
            group: Some("Group A".into()),
            only_success: Some(false),
        };
        let sample = |thread: &str, success| SampleRecord {
            thread_name: thread.into(),
            success,
            ..SampleRecord::default()
        };
        assert!(file.includes(&sample("Group A 1-2", false)));
        assert!(!file.includes(&sample("Group A 1-2", true)));
        assert!(!file.includes(&sample("Group B 2-1", false)));
    }
}
