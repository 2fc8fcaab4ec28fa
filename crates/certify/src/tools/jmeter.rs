//! `JMeter` without its window: an open model or a thread group, from a plan written here. Its
//! log has every sample.

use super::{LoadMode, LoadParameters, ScoredTool, Spacing, ToolCommand, ToolReport};
use crate::figures::CertifiedFigures;
use brunt_lab::planned::Protocol;

pub const TOOL: ScoredTool = ScoredTool {
    name: "jmeter",
    program: Some("jmeter"),
    protocol: Protocol::Http1,
    ways: &[LoadMode::Open, LoadMode::Closed],
    spacing: Spacing::Even,
    lead: 0,
    file: Some("jmeter.jtl"),
    note: "open: Open Model Thread Group with even arrivals, closed: Thread Group; `elapsed` of its log, in whole ms",
    command,
    read,
};

const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="certify"/>
    <hashTree>
      GROUP
      <hashTree>
        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="request">
          <stringProp name="HTTPSampler.protocol">http</stringProp>
          <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
          <stringProp name="HTTPSampler.port">PORT</stringProp>
          <stringProp name="HTTPSampler.path">/</stringProp>
          <stringProp name="HTTPSampler.method">GET</stringProp>
          <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
          <elementProp name="HTTPsampler.Arguments" elementType="Arguments">
            <collectionProp name="Arguments.arguments"/>
          </elementProp>
        </HTTPSamplerProxy>
        <hashTree/>
      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#;

const OPEN: &str = r#"<OpenModelThreadGroup guiclass="OpenModelThreadGroupGui" testclass="OpenModelThreadGroup" testname="open">
        <elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/>
        <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
        <stringProp name="OpenModelThreadGroup.schedule">rate(RATE/s) even_arrivals(SECONDS s) rate(RATE/s)</stringProp>
        <stringProp name="OpenModelThreadGroup.random_seed">1</stringProp>
      </OpenModelThreadGroup>"#;

const CLOSED: &str = r#"<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="closed">
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
          <intProp name="LoopController.loops">-1</intProp>
          <boolProp name="LoopController.continue_forever">false</boolProp>
        </elementProp>
        <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
        <stringProp name="ThreadGroup.num_threads">THREADS</stringProp>
        <stringProp name="ThreadGroup.ramp_time">0</stringProp>
        <boolProp name="ThreadGroup.scheduler">true</boolProp>
        <stringProp name="ThreadGroup.duration">SECONDS</stringProp>
      </ThreadGroup>"#;

/// Options that leave columns out of the log that may contain a comma.
const LOG: &str = "\
-Jjmeter.save.saveservice.output_format=csv -Jjmeter.save.saveservice.print_field_names=true \
-Jjmeter.save.saveservice.label=false -Jjmeter.save.saveservice.response_message=false \
-Jjmeter.save.saveservice.thread_name=false -Jjmeter.save.saveservice.assertion_results_failure_message=false \
-Jjmeter.save.saveservice.url=false";

fn command(job: &LoadParameters) -> ToolCommand {
    let group = if job.way == LoadMode::Open { OPEN } else { CLOSED };
    let plan = (PLAN.replace("GROUP", group))
        .replace("RATE", &job.rate.to_string())
        .replace("SECONDS", &job.seconds.to_string())
        .replace("THREADS", &job.connections.to_string())
        .replace("PORT", &job.port.to_string());
    ToolCommand::line(&format!("jmeter -n -t certify.jmx -l jmeter.jtl -j jmeter.log {LOG}"))
        .with_file("certify.jmx", plan)
}

fn read(report: &ToolReport) -> Result<CertifiedFigures, String> {
    let mut lines = report.file.lines();
    let header = lines.next().ok_or("it left no log of samples")?;
    let stamp = column(header, "timeStamp")?;
    let elapsed = column(header, "elapsed")?;
    let code = column(header, "responseCode")?;
    let samples: Vec<(f64, f64, Option<u16>)> = lines
        .filter_map(|line| {
            let fields: Vec<_> = line.split(',').collect();
            Some((
                fields.get(stamp)?.parse().ok()?,
                fields.get(elapsed)?.parse().ok()?,
                fields.get(code)?.parse().ok(),
            ))
        })
        .collect();
    let replies: Vec<_> = samples.iter().filter(|sample| sample.2.is_some()).collect();
    let begin = samples.iter().map(|sample| sample.0).fold(f64::INFINITY, f64::min);
    let end = samples.iter().map(|sample| sample.0 + sample.1).fold(0.0, f64::max);
    let times = CertifiedFigures::from_times(replies.iter().map(|sample| sample.1 / 1e3).collect());
    // Timestamps are in milliseconds.
    let throughput = (end > begin).then(|| replies.len() as f64 / (end - begin) * 1e3);
    let refused = replies.iter().filter(|sample| sample.2.is_some_and(|code| code >= 400)).count();
    Ok(CertifiedFigures { throughput, ..times }
        .with_errors((samples.len() - replies.len()) as f64, refused as f64))
}

/// Index of a column of the log.
fn column(header: &str, name: &str) -> Result<usize, String> {
    header.split(',').position(|column| column == name).ok_or(format!("its log has no {name}"))
}
