//! Redacts plans, experiments, events, runs and studies.

use super::Redactor;
use brunt_model::experiment::{Hook, HookCommands, LoadStep, ManagedServer, ReadyCondition};
use brunt_model::metric::Metrics;
use brunt_model::numbers::hexadecimal;
use brunt_model::record::{EvaluationKind, SampleTrace, VariableChange};
use brunt_model::request::OmittedBody;
use brunt_model::secret::{is_secret_field, is_secret_path};
use brunt_model::{
    Body, BodyFragment, CheckFailure, Contender, Environment, Event, Experiment, Mark, Plan,
    ProbeSpec, RecordDetails, Request, Run, SampleRecord, Study, Text, Warning,
};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// Maximum length of a body in a stored plan, in bytes.
const MAX_STORED_BODY: usize = 1 << 20;

impl Redactor {
    /// Redacts an event. Frequent events are returned unchanged: they hold no text, or
    /// their readers redact it.
    pub fn event<'a>(&self, event: &'a Event) -> Cow<'a, Event> {
        match event {
            Event::Started { plan, environment, unix_seconds } => {
                let mut plan = plan.clone();
                let mut environment = environment.clone();
                self.plan(&mut plan);
                self.environment(&mut environment);
                Cow::Owned(Event::Started { plan, environment, unix_seconds: *unix_seconds })
            }
            Event::Label { id, name, hop_of } => {
                Cow::Owned(Event::Label { id: *id, name: self.label(name), hop_of: *hop_of })
            }
            Event::Target { addresses, server } => {
                let server = server.as_ref().map(|server| self.text(server));
                Cow::Owned(Event::Target { addresses: addresses.clone(), server })
            }
            Event::Warning(Warning { at, text }) => {
                Cow::Owned(Event::Warning(Warning { at: *at, text: self.message(text) }))
            }
            Event::Mark(Mark { at, text }) => {
                Cow::Owned(Event::Mark(Mark { at: *at, text: self.text(text) }))
            }
            Event::Finished(finish) => {
                let error = finish.error.as_ref().map(|error| self.message(error));
                Cow::Owned(Event::Finished(brunt_model::Finish { error, ..finish.clone() }))
            }
            Event::CheckFailures(failures) => Cow::Owned(Event::CheckFailures(
                failures.iter().map(|failure| self.check_failure(failure)).collect(),
            )),
            Event::Metrics(metrics) => Cow::Owned(Event::Metrics(self.metrics(metrics))),
            Event::Agent { number, event: inner } => match self.event(inner) {
                Cow::Borrowed(_) => Cow::Borrowed(event),
                Cow::Owned(inner) => {
                    Cow::Owned(Event::Agent { number: *number, event: Box::new(inner) })
                }
            },
            Event::Stage { .. }
            | Event::Snapshot(_)
            | Event::Population { .. }
            | Event::Samples(_)
            | Event::Records(_)
            | Event::Reading(_)
            | Event::Lost(_)
            | Event::Resumed { .. } => Cow::Borrowed(event),
        }
    }

    /// Redacts a run in the same way as its events.
    pub fn run(&self, run: &mut Run) {
        if let Some(plan) = &mut run.plan {
            self.plan(plan);
        }
        self.texts_of_run(run);
        // The plans of populations and agents follow from that of the run.
        let begun = run.plan.clone().map(|plan| {
            Run::of([&Event::Started {
                plan: Box::new(plan),
                environment: Box::new(run.environment.clone()),
                unix_seconds: run.unix_seconds,
            }])
        });
        let Run { populations, agents, .. } = begun.unwrap_or_default();
        let mut plans = populations.into_iter().chain(agents).map(|part| part.plan);
        for part in run.populations.iter_mut().chain(&mut run.agents) {
            part.plan = plans.next().flatten();
            self.texts_of_run(part);
        }
    }

    /// Redacts everything of a run but the plan and the parts.
    fn texts_of_run(&self, run: &mut Run) {
        // All fields are listed, so that a new one with text is not forgotten.
        let Run {
            environment,
            label_names,
            check_failures,
            warnings,
            marks,
            finish,
            metrics,
            plan: _,
            populations: _,
            agents: _,
            unix_seconds: _,
            phases: _,
            hops: _,
            total: _,
            warmup: _,
            labels: _,
            transactions: _,
            flow: _,
            flow_all: _,
            spread: _,
            peak: _,
            series: _,
            breakdown_series: _,
            history: _,
            losses: _,
            last_interval_end: _,
        } = run;
        self.environment(environment);
        for name in label_names.values_mut() {
            *name = self.label(name);
        }
        *metrics = self.metrics(metrics);
        for failure in check_failures {
            *failure = self.check_failure(failure);
        }
        for mark in marks {
            mark.text = self.text(&mark.text);
        }
        self.messages(warnings);
        if let Some(error) = finish.as_mut().and_then(|finish| finish.error.as_mut()) {
            *error = self.message(error);
        }
    }

    /// Redacts what scripts have reported; they may compute the names of figures.
    fn metrics(&self, metrics: &Metrics) -> Metrics {
        let figures =
            metrics.figures.iter().map(|(name, metric)| (self.label(name), metric.clone()));
        let lines = metrics.lines.iter().map(|line| self.text(line));
        Metrics { figures: figures.collect(), lines: lines.collect() }
    }

    /// Redacts texts with their messages.
    pub fn messages(&self, texts: &mut [Text]) {
        for text in texts {
            *text = self.message(text);
        }
    }

    /// Redacts a text with its message.
    fn message(&self, text: &Text) -> Text {
        text.map(&|part| self.text(part))
    }

    fn check_failure(&self, failure: &CheckFailure) -> CheckFailure {
        CheckFailure {
            expected: self.message(&failure.expected),
            found: failure.found.map(&|found| self.without_known(&self.body(found))),
            ..failure.clone()
        }
    }

    /// Redacts a plan, and omits its long bodies.
    pub fn plan(&self, plan: &mut Plan) {
        let mut requests = Vec::new();
        for scenario in plan.populations.iter_mut().map(|population| &mut population.scenario) {
            // Inherited values come from replies, not from the user, and most are tokens.
            let values = scenario.inherited_variables.values.iter_mut().map(|(_, value)| value);
            values.filter(|value| !value.is_empty()).for_each(|value| *value = self.secret(value));
            let program = scenario.program.as_mut();
            if let Some(program) = program.filter(|program| program.source.starts_with('{')) {
                // Its source has the environment of the user, and data files.
                let digest = hexadecimal(&Sha256::digest(program.source.as_bytes()));
                program.source = format!("{} bytes, SHA-256 {digest}", program.source.len());
            }
            requests.push((
                std::mem::take(&mut scenario.requests),
                std::mem::take(&mut scenario.services),
            ));
        }
        // The stages are taken out, because they contain plans, which are redacted as plans.
        let mut stages = std::mem::take(&mut plan.stages);
        for stage in &mut stages {
            self.plan(&mut stage.plan);
        }
        self.names_and_values(plan);
        plan.stages = stages;
        for (population, (mut requests, services)) in plan.populations.iter_mut().zip(requests) {
            // After the variables, which have the values of many texts of requests.
            requests.change_each(|request| {
                if let Some(body) = omitted_body(&request.body) {
                    request.body = body;
                }
                self.request_of_plan(request);
            });
            population.scenario.requests = requests;
            population.scenario.services = services;
        }
    }

    /// Redacts everything of a plan except for its requests, of which there may be a million. It
    /// works on a tree of values, so that no field is forgotten.
    fn names_and_values(&self, plan: &mut Plan) {
        let Ok(mut tree) = serde_json::to_value(&*plan) else { return };
        let before = tree.clone();
        self.data(&mut tree);
        if tree == before {
            return;
        }
        match serde_json::from_value(tree) {
            Ok(redacted) => *plan = redacted,
            // Only a secret in place of a number can make a plan unreadable, and numbers of plans
            // have no secret names.
            Err(error) => debug_assert!(false, "a redacted plan cannot be read: {error}"),
        }
    }

    /// Redacts a sample that is shown with its full request and reply.
    pub fn record(&self, record: &mut SampleRecord) {
        record.label = self.label(&record.label);
        record.message = self.text(&record.message);
        let messages = record.assertions.iter_mut().flat_map(|assertion| &mut assertion.message);
        let texts = record.variables.iter_mut().chain(&mut record.failure_message).chain(messages);
        texts.for_each(|text| *text = self.text(text));
        record.url = record.url.as_ref().map(|url| self.url(url));
        let body = record.details.body.clone();
        self.details(&mut record.details);
        if let Some(trace) = record.trace.as_mut().filter(|_| record.details.body != body) {
            // Bytes cannot be redacted, so only the text remains.
            trace.body.clear();
        }
        record.sub_results.iter_mut().for_each(|part| self.record(part));
        if let Some(trace) = &mut record.trace {
            self.trace(trace);
        }
    }

    fn details(&self, details: &mut RecordDetails) {
        // All fields are listed, so that a new one is not forgotten.
        let RecordDetails {
            method: _,
            query,
            cookies,
            request_headers,
            response_headers,
            body,
            redirect_location,
        } = details;
        for body in query.iter_mut().chain(body) {
            *body = self.without_known(&self.body(body));
        }
        for headers in request_headers.iter_mut().chain(response_headers) {
            *headers = self.head(headers);
        }
        *cookies = cookies.as_ref().map(|cookies| self.cookies(cookies));
        *redirect_location = redirect_location.as_ref().map(|url| self.url(url));
    }

    fn trace(&self, trace: &mut SampleTrace) {
        let request = self.request(trace.request.as_bytes());
        trace.request = self.without_known(&String::from_utf8_lossy(&request));
        for message in &mut trace.skipped {
            let text = String::from_utf8_lossy(message);
            let redacted = self.without_known(&self.body(&text));
            if redacted != text {
                *message = redacted.into_bytes();
            }
        }
        for detail in &mut trace.error_details {
            *detail = self.without_known(&self.body(detail));
        }
        let texts = trace.notes.iter_mut().chain(&mut trace.failure);
        texts.for_each(|text| *text = self.text(text));
        for change in trace.changed_before.iter_mut().chain(&mut trace.changed) {
            let VariableChange { name, from, to } = change;
            from.iter_mut().chain(to).for_each(|value| *value = self.variable(name, value));
        }
        for look in &mut trace.evaluations {
            look.wanted = self.text(&look.wanted);
            // A condition names the place of its value, such as `json $.token is …`.
            let is_secret_place = look.wanted.split(' ').nth(1).is_some_and(is_secret_path);
            look.found = match look.by {
                EvaluationKind::Check if is_secret_place => self.secret(&look.found),
                EvaluationKind::Extractor if look.is_good => self.variable(&look.name, &look.found),
                EvaluationKind::Extractor => self.text(&look.found),
                EvaluationKind::Check | EvaluationKind::Script => {
                    self.without_known(&self.body(&look.found))
                }
            };
        }
        trace.challenged.iter_mut().for_each(|record| self.record(record));
    }

    /// Redacts the value of a variable. The name may show that it is secret.
    fn variable(&self, name: &str, value: &str) -> String {
        if is_secret_field(name) && !value.is_empty() {
            self.secret(value)
        } else {
            self.text(value)
        }
    }

    /// Redacts the status line and the header fields of a reply, one per line.
    fn head(&self, head: &str) -> String {
        head.lines().map(|line| self.header_line(line)).collect::<Vec<_>>().join("\n")
    }

    fn header_line(&self, line: &str) -> String {
        match line.split_once(": ") {
            Some((name, value)) => format!("{name}: {}", self.header(name, value)),
            None => line.to_owned(),
        }
    }

    /// Redacts an experiment, with the text of its plan file.
    pub fn experiment(&self, experiment: &mut Experiment) {
        for contender in &mut experiment.contenders {
            self.contender(contender);
        }
        self.around(&mut experiment.hooks);
        for text in [&mut experiment.name, &mut experiment.about] {
            *text = self.text(text);
        }
        experiment.source = self.source(&experiment.source);
    }

    /// Redacts a step of an experiment.
    pub fn step(&self, step: &mut LoadStep) {
        self.plan(&mut step.plan);
    }

    /// Redacts the environment of a run, with the command line.
    pub fn environment(&self, environment: &mut Environment) {
        environment.command = self.command(&environment.command);
        if let Some(server) = &mut environment.server {
            *server = self.text(server);
        }
    }

    /// Redacts the experiment, the environment and the warnings of a study. Its runs are already
    /// redacted.
    pub fn study(&self, study: &mut Study) {
        self.experiment(&mut study.experiment);
        self.environment(&mut study.environment);
        self.messages(&mut study.warnings);
    }

    /// Redacts a label, which is often a URL with a method before it.
    pub fn label(&self, label: &str) -> String {
        match label.rsplit_once(' ') {
            Some((method, url)) if url.contains('/') && !method.contains(' ') => {
                format!("{method} {}", self.url(url))
            }
            None if label.contains('/') => self.url(label),
            _ => self.text(label),
        }
    }

    fn request_of_plan(&self, request: &mut Request) {
        for (name, value) in &mut request.headers {
            *value = self.header(name, value);
        }
        request.label = self.label(&request.label);
        request.url = self.url(&request.url);
        match &mut request.body {
            Body::Text(text) => *text = self.body(text).into(),
            Body::Message(message) => message.json = self.body(&message.json),
            Body::Mixed(fragments) => fragments.iter_mut().for_each(|fragment| {
                if let BodyFragment::Text(text) = fragment {
                    *text = self.body(text);
                }
            }),
            Body::Bytes(_) | Body::Pieces(_) | Body::Omitted(_) | Body::None => {}
        }
        if let Some(bytes) = &mut request.verbatim {
            *bytes = self.request(bytes);
        }
    }

    fn contender(&self, contender: &mut Contender) {
        contender.steps.iter_mut().for_each(|step| self.step(step));
        contender.name = self.label(&contender.name);
        for (_, level) in &mut contender.factors {
            *level = self.text(level);
        }
        for around in [
            &mut contender.hooks.contender,
            &mut contender.hooks.repetition,
            &mut contender.hooks.step,
        ] {
            self.around(around);
        }
        contender.probes.iter_mut().for_each(|probe| self.probe(probe));
        if let Some(server) = &mut contender.server {
            self.server(server);
        }
    }

    fn around(&self, around: &mut HookCommands) {
        for Hook { run, .. } in around.before.iter_mut().chain(&mut around.after) {
            *run = self.shell(run);
        }
    }

    fn server(&self, server: &mut ManagedServer) {
        server.start = self.shell(&server.start);
        server.stop = server.stop.as_ref().map(|stop| self.shell(stop));
        for (name, value) in &mut server.environment {
            *value = if is_secret_field(name) { self.secret(value) } else { self.text(value) };
        }
        match &mut server.ready {
            ReadyCondition::Url(url) => *url = self.url(url),
            ReadyCondition::Command(command) => *command = self.shell(command),
            ReadyCondition::Address(_) => {}
        }
    }

    fn probe(&self, probe: &mut ProbeSpec) {
        if let Some(url) = probe.what.url_mut() {
            *url = self.url(url);
        }
    }

    /// Redacts the text of a plan file, or a command line.
    fn source(&self, source: &str) -> String {
        let is_text = source.contains('\n')
            || source.split_whitespace().next().is_none_or(|word| word.ends_with(':'));
        if is_text { self.plan_text(source) } else { self.command(source) }
    }
}

/// Returns what is stored in place of a body. None: it is stored itself. A long body would take
/// several times its size of memory, and as much of the disk in each event log.
fn omitted_body(body: &Body) -> Option<Body> {
    let bytes = match body {
        Body::Text(text) => text.as_bytes(),
        Body::Bytes(bytes) => bytes,
        Body::Omitted(_) | Body::None | Body::Mixed(_) | Body::Pieces(_) | Body::Message(_) => {
            return None;
        }
    };
    if bytes.len() <= MAX_STORED_BODY {
        return None;
    }
    let sha256 = hexadecimal(&Sha256::digest(bytes));
    Some(Body::Omitted(OmittedBody { bytes: bytes.len() as u64, sha256 }))
}
