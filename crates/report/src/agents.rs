//! Figures of the agents of a run: the rows of the table of agents and of the JSON document.
//!
//! Out of scope: the verdict on an agent, which is part of the judgement.

use crate::breakdown::Breakdown;
use crate::figures::{enough, known_quantile, quantile_of, response_quantile};
use crate::readings;
use crate::subset::SubsetKind;
use crate::texts::message;
use brunt_model::finding::State;
use brunt_model::numbers::{UNKNOWN, bytes, count, seconds, three_digits, time};
use brunt_model::reading_names::{LINK, link};
use brunt_model::time::seconds_of;
use brunt_model::{AgentEnvironment, Judgement, Phase, Run, StageKind, Tally, Text, Tick};

/// Heads of the columns, each with the minimum terminal width that shows it, in characters.
const COLUMNS: [(&str, usize); 7] = [
    ("column.requests-per-second", 0),
    ("column.errors", 70),
    ("column.p99", 0),
    ("column.lag-p99", 0),
    ("column.clock-error", 90),
    ("column.bytes-per-second", 100),
    ("column.state", 0),
];

/// Maximum number of agents of which a report for a screen has a row each.
const MOST_ROWS: usize = 12;
/// Number of rows if there are more agents.
const ROWS_OF_MANY: usize = 10;

/// Rows of the table of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentRows {
    /// A row for each agent.
    All,
    /// Of more than 12 agents, the ten with the largest lag p99, and a row with the ranges of the
    /// others.
    LargestLags,
}

/// An agent with its share of a run.
#[derive(Clone, Copy)]
pub struct AgentFigures<'a> {
    whole: &'a Run,
    environment: &'a AgentEnvironment,
    /// Its share of the samples and its readings.
    pub run: &'a Run,
    /// State of its verdict.
    pub state: State,
}

impl<'a> AgentFigures<'a> {
    /// Returns the agents of a run; empty for a run without agents.
    pub fn all(whole: &'a Run, judgement: &Judgement) -> Vec<Self> {
        let states = judgement.verdict.agents.iter().copied().chain(std::iter::repeat(State::Ok));
        let agents = whole.environment.agents.iter().zip(&whole.agents).zip(states);
        agents.map(|((environment, run), state)| Self { whole, environment, run, state }).collect()
    }

    /// Name of the agent.
    pub fn name(&self) -> &'a str {
        &self.environment.name
    }

    /// Group of the agent; None if it is in none.
    pub fn group(&self) -> Option<&'a str> {
        self.environment.group.as_deref()
    }

    /// Name of its machine.
    pub fn host(&self) -> &'a str {
        &self.environment.facts.host
    }

    /// Cores that it may use.
    pub fn cores(&self) -> u32 {
        self.environment.facts.cores
    }

    /// Samples of the measured time.
    pub fn total(&self) -> &'a Tally {
        &self.run.total
    }

    /// Whole replies per second of the run's measured time, so that the agents add up to the run.
    pub fn throughput(&self) -> f64 {
        self.whole.per_second(self.run.flow.completed)
    }

    /// Mean number of cores that it used in the measured time; None without readings.
    pub fn cpu_cores(&self) -> Option<f64> {
        readings::generator_cores(self.run)
    }

    fn link_values(&self, name: &str) -> impl Iterator<Item = f64> + use<> {
        let values = self.run.history.get(LINK).map(|link| link.values(name)).unwrap_or_default();
        values.into_iter().map(|(_, value)| value)
    }

    /// Time by which its clock is ahead of the controller's, in seconds: the last known one.
    pub fn clock_offset(&self) -> f64 {
        let last = self.run.reading(LINK, link::CLOCK_OFFSET);
        last.unwrap_or(self.environment.clock.offset_nanos as f64 / 1e9)
    }

    /// Largest bound of the clock's error over the run, in seconds. 0 if it shares the controller's
    /// clock.
    pub fn clock_error(&self) -> f64 {
        let before = seconds_of(self.environment.clock.error_nanos);
        self.link_values(link::CLOCK_ERROR).fold(before, f64::max)
    }

    /// Smallest round trip of a message, in seconds.
    pub fn round_trip(&self) -> f64 {
        let before = seconds_of(self.environment.clock.round_trip_nanos);
        self.link_values(link::ROUND_TRIP).fold(before, f64::min)
    }

    /// Mean bytes per second that the controller received from it; None without readings.
    pub fn received_bytes(&self) -> Option<f64> {
        let values: Vec<f64> = self.link_values(link::BYTES).collect();
        let sum: f64 = values.iter().sum();
        (!values.is_empty()).then(|| sum / values.len() as f64)
    }

    /// Time of its first loss, in seconds since the start of the measured time; None if it was not lost.
    pub fn lost_at(&self) -> Option<f64> {
        self.run.losses.first().map(|loss| self.seconds(loss.at))
    }

    /// Time at which another process took its place after its last loss, in seconds since the start of the
    /// measured time; None if none did.
    pub fn replaced_at(&self) -> Option<f64> {
        let last = self.run.losses.last().map(|loss| loss.until)?;
        (last != Tick::NEVER).then(|| self.seconds(last))
    }

    fn seconds(&self, instant: Tick) -> f64 {
        instant.seconds_from(self.whole.phase_start(Phase::Measure).unwrap_or_default())
    }

    fn lag_p99(&self) -> u64 {
        let lag = &self.total().lag;
        if lag.is_empty() { 0 } else { lag.quantile(0.99) }
    }

    fn cells(&self) -> Vec<Text> {
        let figures = [
            three_digits(self.throughput()),
            count(self.total().errors()),
            response_quantile(self.total(), 0.99),
            quantile_of(&self.total().lag, 0.99),
            clock_error_text(self.clock_error()),
            self.received_bytes().map_or(UNKNOWN.into(), bytes),
        ];
        figures.map(Text::from).into_iter().chain([self.state_text()]).collect()
    }

    fn state_text(&self) -> Text {
        let state = match (self.lost_at(), self.replaced_at()) {
            (None, _) => self.state.key(),
            (Some(_), None) => "lost",
            (Some(_), Some(_)) => "replaced",
        };
        message!("agent-state", state)
    }
}

/// Returns the table of agents; without rows if there are none.
pub fn table(run: &Run, judgement: &Judgement, rows: AgentRows) -> Breakdown {
    let mut agents = AgentFigures::all(run, judgement);
    let mut others = Vec::new();
    if rows == AgentRows::LargestLags && agents.len() > MOST_ROWS {
        agents.sort_by_key(|agent| std::cmp::Reverse(agent.lag_p99()));
        others = agents.split_off(ROWS_OF_MANY);
    }
    let mut rows: Vec<(Text, Vec<Text>)> =
        agents.iter().map(|agent| (agent.name().into(), agent.cells())).collect();
    rows.extend(row_of_others(&others));
    Breakdown { title: "column.agents", columns: &COLUMNS, rows, kind: Some(SubsetKind::Agent) }
}

/// Returns a row with the lowest and the highest figure of agents; None without agents.
fn row_of_others(agents: &[AgentFigures]) -> Option<(Text, Vec<Text>)> {
    let worst = agents.iter().max_by_key(|agent| (agent.lost_at().is_some(), agent.state))?;
    let figures = [
        range(agents, three_digits, |agent| Some(agent.throughput())),
        range(agents, |n| count(n as u64), |agent| Some(agent.total().errors() as f64)),
        range(agents, nanos_text, |agent| Some(known_quantile(agent.total(), 0.99)?.value as f64)),
        range(agents, nanos_text, |agent| {
            enough(0.99, agent.total().lag.count()).then(|| agent.lag_p99() as f64)
        }),
        range(agents, clock_error_text, |agent| Some(agent.clock_error())),
        range(agents, bytes, AgentFigures::received_bytes),
    ];
    let cells = figures.map(Text::from).into_iter().chain([worst.state_text()]);
    Some((format!("{} more (min–max)", agents.len()).into(), cells.collect()))
}

/// Formats the lowest and the highest value: `391–520 µs`.
fn range<'a>(
    agents: &[AgentFigures<'a>],
    text: impl Fn(f64) -> String,
    value: impl Fn(&AgentFigures<'a>) -> Option<f64>,
) -> String {
    let values: Vec<f64> = agents.iter().filter_map(value).collect();
    let least = values.iter().copied().reduce(f64::min);
    let Some((least, most)) = least.zip(values.iter().copied().reduce(f64::max)) else {
        return UNKNOWN.into();
    };
    let least = text(least);
    let most = text(most);
    if least == most {
        return most;
    }
    // A unit that both have is written once.
    match (least.split_once(' '), most.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number}–{most}"),
        _ => format!("{least}–{most}"),
    }
}

fn nanos_text(nanos: f64) -> String {
    time(nanos as u64)
}

fn clock_error_text(error: f64) -> String {
    if error == 0.0 { "exact".into() } else { seconds(error) }
}

/// Names the agent that carried out the stages before and after the load; None if there are none.
pub fn stages_text(run: &Run) -> Option<String> {
    // The runner starts stages on the first agent.
    let first = run.environment.agents.first()?;
    let stages = &run.plan.as_ref()?.stages;
    let has = |kind: StageKind| stages.iter().any(|stage| stage.kind == kind);
    let kinds = [StageKind::Setup, StageKind::Teardown].into_iter().filter(|kind| has(*kind));
    let words: Vec<&str> = kinds.map(StageKind::word).collect();
    (!words.is_empty()).then(|| format!("{} ran on agent {}", words.join(" and "), first.name))
}

/// Number of agents that were lost, and not replaced, in an interval or a part of it.
pub fn missing(run: &Run, from: Tick, to: Tick) -> u64 {
    // Without agents, a loss is that of a process, which is no agent.
    let losses = run.losses.iter().filter(|_| !run.agents.is_empty());
    losses.filter(|loss| loss.at < to && loss.until > from).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::ResultDocument;
    use crate::story;
    use brunt_model::Event;

    #[test]
    fn an_agent_has_its_share_and_its_link_in_the_document() {
        let run = story::fleet(4, Some(2));
        let document = ResultDocument::new(&run, &Judgement::default());
        let all: u64 = document.agents.iter().map(|agent| agent.requests.completed).sum();
        assert_eq!(all, document.requests.completed);
        let rates: f64 = document.agents.iter().map(|agent| agent.throughput_per_second).sum();
        assert!((rates - document.throughput_per_second).abs() < 1e-9);
        let [first, second, lost, _] = &document.agents[..] else { panic!("four agents") };
        assert_eq!(
            (first.name.as_str(), first.host.as_str(), first.cores),
            ("load-1", "host-1", 4)
        );
        assert_eq!(first.clock_error_seconds, 0.0);
        // The largest reading, not the last one.
        assert!((second.clock_error_seconds - 60e-6).abs() < 1e-12);
        assert!((second.clock_offset_seconds - 1.6e-3).abs() < 1e-12);
        assert!((second.round_trip_seconds - 250e-6).abs() < 1e-12);
        assert_eq!(second.received_bytes_per_second, Some(2010.0));
        assert!(second.cpu_cores.is_some_and(|cores| (cores - 0.5).abs() < 1e-9));
        assert_eq!((second.lost_at_seconds, lost.lost_at_seconds), (None, Some(6.0)));
    }

    #[test]
    fn a_replaced_agent_is_missing_only_until_then() {
        let mut run = story::fleet(4, Some(2));
        let resumed = Event::Resumed { at: Tick(8_000_000_000), process: 2 };
        run.fold(&Event::Agent { number: 2, event: Box::new(resumed.clone()) });
        run.fold(&resumed);
        let lost: Vec<u64> =
            crate::result::series(&run).map(|interval| interval.agents_lost).collect();
        assert_eq!(lost, [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0]);
        let document = ResultDocument::new(&run, &Judgement::default());
        assert_eq!(document.agents[2].replaced_at_seconds, Some(8.0));
        let table = table(&run, &Judgement::default(), AgentRows::All);
        assert_eq!(table.rows[2].1.last().map(Text::as_str), Some("replaced"));
    }

    #[test]
    fn intervals_with_a_lost_agent_are_marked() {
        let run = story::fleet(4, Some(2));
        let lost: Vec<u64> =
            crate::result::series(&run).map(|interval| interval.agents_lost).collect();
        assert_eq!(lost, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
        let document = ResultDocument::new(&run, &Judgement::default());
        let json = serde_json::to_value(document).unwrap();
        assert!(json["series"][0].get("agents_lost").is_none());
        assert_eq!(json["series"][7]["agents_lost"], 1);
        let mut csv = Vec::new();
        crate::csv::write(&run, &Judgement::default(), &mut csv).unwrap();
        let csv = String::from_utf8(csv).unwrap();
        let columns: Vec<&str> = csv.lines().map(|l| l.rsplit(',').next().unwrap()).collect();
        assert_eq!(columns[..2], ["agents_lost", "0"]);
        assert_eq!(columns[8], "1");
    }

    #[test]
    fn charts_over_time_mark_the_loss() {
        let run = story::fleet(4, Some(2));
        let (study, _) = crate::single::study_of(&run, &Judgement::default());
        let charts = crate::panels::of_trial(&study, 0);
        let throughput = charts.iter().find(|chart| chart.id == "time-throughput").unwrap();
        let [mark] = &throughput.marks[..] else { panic!("{:?}", throughput.marks) };
        assert_eq!((mark.x, mark.name.as_str()), (6.0, "load-3 lost"));
        // No agent took its place, so the rest of the run is shaded.
        assert_eq!(mark.until, Some(run.last_interval_end.seconds()));
    }

    #[test]
    fn a_run_without_agents_has_no_agents_anywhere() {
        let run = story::closed().run();
        assert!(table(&run, &Judgement::default(), AgentRows::All).rows.is_empty());
        let json = serde_json::to_value(ResultDocument::new(&run, &Judgement::default())).unwrap();
        assert!(json.get("agents").is_none() && json["verdict"].get("agents").is_none());
        assert_eq!(stages_text(&run), None);
    }

    #[test]
    fn of_many_agents_those_with_the_largest_lag_have_a_row_and_the_page_has_all() {
        let run = story::fleet(40, None);
        let few = table(&run, &Judgement::default(), AgentRows::LargestLags);
        assert_eq!(few.rows.len(), 11);
        assert_eq!((few.rows[0].0.as_str(), few.rows[9].0.as_str()), ("load-40", "load-31"));
        assert_eq!(few.rows[10].0, "30 more (min–max)");
        assert_eq!(few.rows[10].1[3], "2.00–31.0 µs");
        assert_eq!(few.rows[10].1[4], "exact–1.74 ms");
        assert_eq!(table(&run, &Judgement::default(), AgentRows::All).rows.len(), 40);
        let mut page = Vec::new();
        crate::html::write(&run, &Judgement::default(), &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains("clock error") && page.contains("load-17"));
    }
}
