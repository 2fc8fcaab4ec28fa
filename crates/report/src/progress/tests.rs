use super::*;
use crate::story::RunBuilder;

const STEP: u64 = 100_000_000;

fn snapshot(step: u64, phase: Phase) -> Snapshot {
    let mut s = Snapshot {
        from: Tick(step * STEP),
        to: Tick((step + 1) * STEP),
        phase,
        ..Snapshot::default()
    };
    (s.flow.completed, s.flow.errors, s.flow.in_flight, s.flow.connections) = (1234, 1, 64, 64);
    s.measured.response.record_n(602_000, 1234);
    s
}

fn line(progress: &mut RunProgress, snapshot: &Snapshot) -> String {
    progress.take(snapshot);
    progress.line()
}

#[test]
fn every_part_of_a_run_has_its_line() {
    let mut plan = RunBuilder::closed(64.0).plan;
    plan.main_mut().stop.warmup = Duration::from_millis(200);
    let mut progress = RunProgress::new(&plan);
    let phases = [Phase::Setup, Phase::Warmup, Phase::Measure, Phase::Grace];
    let lines: Vec<String> =
        (0..).zip(phases).map(|(i, phase)| line(&mut progress, &snapshot(i, phase))).collect();
    assert_eq!(
        lines,
        [
            "setup 0.1 s  64 connections open",
            "warm-up 0.1 s of 200 ms (1 %)  12,340/s, average 12,340/s  p50 602 µs, p99 602 µs  64 in flight  1 error",
            "0.1 s of 10 s (3 %)  12,340/s, average 12,340/s  p50 602 µs, p99 602 µs  64 in flight  1 error",
            "grace 0.1 s of 1 s (100 %)  12,340/s, average 24,680/s  p50 602 µs, p99 602 µs  64 in flight  2 errors",
        ]
    );
}

#[test]
fn a_block_fits_terminals_of_any_width() {
    let mut progress = RunProgress::new(&RunBuilder::closed(64.0).plan);
    for step in 0..42 {
        let mut s = snapshot(step, Phase::Measure);
        s.flow.completed += step * 20;
        progress.take(&s);
    }
    for width in [20, 60, 80, 120, 160, 500] {
        let block = progress.block(width);
        assert!(block.iter().all(|line| line.chars().count() <= width.clamp(40, 160)), "{block:?}");
    }
    assert_eq!(
        progress.block(60),
        [
            " 42 % ████████████░░░░░░░░░░░░░░░░░  4.2 s of 10 s, 6 s left",
            "Throughput   19,640/s now, 16,440/s average  ▆▇██",
            "Last second  p50 602 µs, p99 602 µs; 64 in flight; 42 errors",
        ]
    );
    assert_eq!(progress.block(120)[0].chars().count(), 120);
}

#[test]
fn rates_are_those_of_the_last_second() {
    let mut progress = RunProgress::new(&RunBuilder::closed(64.0).plan);
    for step in 0..10 {
        progress.take(&snapshot(step, Phase::Measure));
    }
    let mut quiet = |step| {
        let (from, to) = (Tick(step * STEP), Tick((step + 1) * STEP));
        line(&mut progress, &Snapshot { from, to, phase: Phase::Measure, ..Snapshot::default() })
    };
    assert!(quiet(10).contains(" 11,106/s,"));
    let last = (11..20).map(&mut quiet).last().unwrap();
    assert_eq!(
        last,
        "2.0 s of 10 s (20 %)  0/s, average 6,170/s  p50 –, p99 –  0 in flight  10 errors"
    );
}

#[test]
fn a_number_of_requests_is_counted_down() {
    let mut plan = RunBuilder::closed(64.0).plan;
    (plan.main_mut().stop.duration, plan.main_mut().stop.requests) = (None, Some(100_000));
    let mut progress = RunProgress::new(&plan);
    let line = line(&mut progress, &snapshot(0, Phase::Measure));
    assert!(line.starts_with("0.1 s  1,234 of 100,000 requests (1 %) "), "{line}");
    assert!(
        progress.block(80)[0].ends_with("1,234 of 100,000 requests, 9 s left"),
        "{:?}",
        progress.block(80)
    );
}
