//! Result files of JMeter that runs write: `brunt URL --jtl result.jtl`.

#[cfg(not(feature = "compat"))]
pub use absent::{ResultFile, open};
#[cfg(feature = "compat")]
pub use brunt_dropin::ResultFile;
#[cfg(feature = "compat")]
pub use present::open;

use anyhow::{Result, anyhow};

/// Returns an error if the result file could not be written, so that samples are missing in it.
pub fn check_complete(file: Option<&ResultFile>) -> Result<()> {
    file.and_then(ResultFile::trouble).map_or(Ok(()), |trouble| Err(anyhow!(trouble)))
}

#[cfg(feature = "compat")]
mod present {
    use super::ResultFile;
    use anyhow::{Context, Result};
    use brunt_jmx::jtl::{Field, JtlFormat, JtlSettings};
    use brunt_model::plan::RecordDetail;
    use brunt_spec::settings::OutputSettings;
    use brunt_spec::to_plan;

    /// Opens JMeter's result file (JTL) for the samples; None if it is not requested. It is XML if the
    /// records have full detail, otherwise CSV.
    pub fn open(output: &OutputSettings) -> Result<Option<ResultFile>> {
        let (Some(path), Some(records)) = (&output.jtl, to_plan::records(output)) else {
            return Ok(None);
        };
        // JMeter's CSV has no columns for headers and bodies.
        let is_xml = records.detail == RecordDetail::Full;
        let format = if is_xml { JtlFormat::Xml } else { JtlFormat::Csv };
        let mut settings = JtlSettings { format, ..JtlSettings::default() };
        for field in [
            Field::RequestHeaders,
            Field::ResponseHeaders,
            Field::SamplerData,
            Field::ResponseDataOnError,
        ] {
            settings.save(field, is_xml);
        }
        ResultFile::open(path, settings).map(Some).with_context(|| path.display().to_string())
    }
}

/// A program that was built without other tools.
#[cfg(not(feature = "compat"))]
mod absent {
    use anyhow::{Result, bail};
    use brunt_model::{Event, Text};
    use brunt_runner::EventListener;
    use brunt_spec::settings::OutputSettings;
    use std::convert::Infallible;

    /// A result file. No value exists.
    pub struct ResultFile(Infallible);

    impl ResultFile {
        /// Never called, because no value exists.
        pub fn trouble(&self) -> Option<Text> {
            match self.0 {}
        }
    }

    impl EventListener for ResultFile {
        fn on_event(&mut self, _event: &Event) {
            match self.0 {}
        }
    }

    /// Refuses `--jtl`.
    pub fn open(output: &OutputSettings) -> Result<Option<ResultFile>> {
        if output.jtl.is_some() {
            bail!(
                "--jtl: this brunt was built without other tools; build it with the feature `compat`"
            );
        }
        Ok(None)
    }
}
