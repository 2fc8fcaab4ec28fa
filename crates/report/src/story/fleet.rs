//! Builds a run on several agents, with the events of a controller.

use super::{MS, RunBuilder, microseconds_after};
use brunt_model::event::LostProcess;
use brunt_model::reading_names::{GENERATOR, LINK, link};
use brunt_model::{
    AgentEnvironment, AgentFacts, ClockOffset, Environment, Event, ProcessPart, Reading, Run, Tick,
};

/// A closed loop on `count` agents, each with more lag than the one before. The first one shares
/// the controller's clock. The agent `lost` is lost after six seconds.
pub fn fleet(count: usize, lost: Option<usize>) -> Run {
    let end = Tick(6000 * MS);
    let mut whole = RunBuilder::closed(64.0);
    // Each agent has enough requests for a p99.
    let requests = (count as u64 * 150).max(1000);
    for request in 0..requests {
        whole.reply(request * 9000 / requests, 300 + request * 37 % 900, 200);
    }
    whole.read_generator();
    whole.plan.processes = count as u32;
    let samples = std::mem::take(&mut whole.samples).into_iter().enumerate();
    let mut parts: Vec<RunBuilder> = (0..count).map(|_| RunBuilder::closed(64.0)).collect();
    for (index, mut sample) in samples {
        let number = index % count;
        if lost == Some(number) && sample.last_byte >= end {
            continue;
        }
        sample.begun = microseconds_after(sample.planned, 2 + number as u64);
        sample.sent = microseconds_after(sample.begun, 8);
        parts[number].samples.push(sample);
        whole.samples.push(sample);
    }
    let mut events = whole.events();
    if let Some(Event::Started { environment, .. }) = events.first_mut() {
        **environment =
            Environment { agents: (0..count).map(agent).collect(), ..(**environment).clone() };
    }
    let last = events.pop();
    for (number, part) in parts.iter().enumerate() {
        let of_agent = |event: Event| Event::Agent { number: number as u32, event: event.into() };
        let end = if lost == Some(number) { end } else { Tick(11_000 * MS) };
        for event in part.events() {
            if matches!(&event, Event::Snapshot(snapshot) if snapshot.to <= end) {
                events.push(of_agent(event));
            }
        }
        events.extend(readings(number, end).map(|reading| of_agent(Event::Reading(reading))));
        if lost == Some(number) {
            let part = ProcessPart { number: number as u32, count: count as u32, quiet: 0 };
            let loss = Event::Lost(LostProcess { at: end, part, until: Tick::NEVER });
            events.push(of_agent(loss.clone()));
            events.push(loss);
        }
    }
    events.extend(last);
    Run::of(&events)
}

fn agent(number: usize) -> AgentEnvironment {
    AgentEnvironment {
        name: format!("load-{}", number + 1),
        group: None,
        facts: AgentFacts {
            host: format!("host-{}", number + 1),
            cores: 4,
            pid: 100 + number as u32,
            clock: format!("boot-{number}"),
            ..AgentFacts::default()
        },
        clock: ClockOffset {
            offset_nanos: number as i64 * 1_500_000,
            error_nanos: number as u64 * 20_000,
            round_trip_nanos: 300_000,
        },
        route: None,
    }
}

fn readings(number: usize, end: Tick) -> impl Iterator<Item = Reading> {
    (0..=10).map(|second| Tick(second * 1000 * MS)).filter(move |at| *at <= end).flat_map(
        move |at| {
            let seconds = at.seconds();
            let error = if seconds == 5.0 { number as f64 * 60e-6 } else { 0.0 };
            let of_link = vec![
                (link::CLOCK_OFFSET.to_owned(), number as f64 * 1.6e-3),
                (link::CLOCK_ERROR.to_owned(), error),
                (link::ROUND_TRIP.to_owned(), 250e-6),
                (link::BYTES.to_owned(), 2000.0 + number as f64 * 10.0),
            ];
            let own = vec![
                ("cpu_user_seconds".to_owned(), seconds * 0.2),
                ("cpu_system_seconds".to_owned(), seconds * 0.3),
            ];
            [(LINK, of_link), (GENERATOR, own)].map(|(source, values)| Reading {
                at,
                source: source.to_owned(),
                values,
            })
        },
    )
}
