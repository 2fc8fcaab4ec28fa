use super::*;
use proptest::prelude::*;
use std::time::Duration;

fn one(stages: &[(f64, f64, Option<f64>)]) -> Loads {
    let stage = |&(from, to, d): &(f64, f64, Option<f64>)| LoadStage {
        from,
        to,
        duration: d.map(Duration::from_secs_f64),
    };
    Loads::One(LoadShape { stages: stages.iter().map(stage).collect() })
}

#[test]
fn valid_loads_are_parsed() {
    for (word, loads) in [
        ("500", one(&[(500.0, 500.0, None)])),
        ("0.5", one(&[(0.5, 0.5, None)])),
        (" 20000 ", one(&[(20000.0, 20000.0, None)])),
        ("500/30", one(&[(500.0, 500.0, Some(30.0))])),
        ("500/2m", one(&[(500.0, 500.0, Some(120.0))])),
        ("0..500/30s", one(&[(0.0, 500.0, Some(30.0))])),
        ("0..500/30s,500/2m", one(&[(0.0, 500.0, Some(30.0)), (500.0, 500.0, Some(120.0))])),
        ("0..500/30s, 500", one(&[(0.0, 500.0, Some(30.0)), (500.0, 500.0, None)])),
        ("500..0/1m30s", one(&[(500.0, 0.0, Some(90.0))])),
        (
            "9/1s,0/1s,9/1s",
            one(&[(9.0, 9.0, Some(1.0)), (0.0, 0.0, Some(1.0)), (9.0, 9.0, Some(1.0))]),
        ),
    ] {
        assert_eq!(rate(word), Ok(loads), "{word}");
    }
}

#[test]
fn valid_sweeps_are_parsed() {
    let sweep = |word: &str| match parse(word).unwrap() {
        Loads::Sweep(values) => values,
        Loads::One(shape) => panic!("{word} is {shape}"),
    };
    let fifties = sweep("50..1500+50");
    assert_eq!((fifties.len(), fifties[0], fifties[1], fifties[29]), (30, 50.0, 100.0, 1500.0));
    assert_eq!(sweep("0..100+30"), [0.0, 30.0, 60.0, 90.0]);
    assert_eq!(sweep("0.1..0.3+0.1"), [0.1, 0.2, 0.3]);
    assert_eq!(
        sweep("10..20000*2"),
        [10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1280.0, 2560.0, 5120.0, 10240.0]
    );
    assert_eq!(sweep("1..1000*10"), [1.0, 10.0, 100.0, 1000.0]);
    assert_eq!(sweep("7..7+1"), [7.0]);
    assert_eq!(sweep("[5,10,50]"), [5.0, 10.0, 50.0]);
    assert_eq!(sweep("[ 5 , 10 ]"), [5.0, 10.0]);
}

#[test]
fn errors_of_malformed_loads_show_valid_ones() {
    for (word, remedy) in [
        ("", "write a number such as 500"),
        ("-5", "not negative; write a number such as 500"),
        ("NaN", "not a number; write a number such as 500"),
        ("inf", "not a number"),
        ("1e5", "not a number; write 100000"),
        ("20k", "not a number; write 20000"),
        ("1_000", "not a number; write 1000"),
        ("1,000", "write 1000, or [1,000] for a sweep"),
        ("100,200,300", "write [100,200,300] for a sweep"),
        ("100-500", "write 100..500/30s for a stage, or 100..500+50 for a sweep"),
        ("0", "sends no requests"),
        ("0..0/5s", "sends no requests"),
        ("2000000000", "write 1000000000 at most"),
        ("2000/s", "write 2000, or 2000/30s for half a minute"),
        ("30/m", "a rate is always per second; write 30, or 30/30s"),
        ("500/", "write 500, or 500/30s"),
        ("500/0s", "above zero"),
        ("500/-1s", "not negative"),
        ("500/3x", "`x` is not a unit of time"),
        ("500/s/30s", "such as 500ms"),
        ("0..500", "write 0..500/30s, or 0..500+50 for a sweep"),
        ("500,1000/30s", "`500`: only the last stage may have no duration; write 500/30s"),
        ("500/1s,", "write a number such as 500"),
        ("..500/30s", "write a number such as 500"),
        ("1..2..3/1s", "not a number"),
        ("5+1", "write a sweep such as 50..1500+50"),
        ("50..10+5", "the first load of a sweep is the lowest; write a sweep such as"),
        ("10..50+0", "never ends; write a sweep"),
        ("10..50*1", "its factor is above 1; write a sweep"),
        ("0..50*2", "begins above 0"),
        ("10..50+5/1s", "a sweep has no stages"),
        ("10..50+5,60", "a sweep has no stages"),
        ("0..1000000000+1", "more than 10000 loads; write a sweep in greater steps"),
        ("[1,2", "`]` is missing; write [5,10,50]"),
        ("[]", "write a number such as 500"),
        ("[1,0]", "sends no requests"),
    ] {
        let error_text = rate(word).unwrap_err().to_string();
        assert!(error_text.contains(remedy), "{word}: {error_text}");
    }
}

#[test]
fn numbers_of_connections_are_integers() {
    assert_eq!(connections("10"), Ok(one(&[(10.0, 10.0, None)])));
    assert_eq!(connections("0..500/30s"), Ok(one(&[(0.0, 500.0, Some(30.0))])));
    for (word, remedy) in [
        ("0", "write at least one, such as 10"),
        ("0.5", "a connection is not divisible (0.5); write whole numbers"),
        ("1..2.5/1s", "a connection is not divisible (2.5)"),
        ("1..10*1.5", "a connection is not divisible (1.5)"),
        ("0..4+2", "write at least one"),
    ] {
        let error_text = connections(word).unwrap_err().to_string();
        assert!(error_text.contains(remedy), "{word}: {error_text}");
    }
}

prop_compose! {
    fn any_stage()(from in 0..=1_000_000_u32, to in 0..=1_000_000_u32, tenth in any::<bool>(), millis in 1..=10_000_000_u64)
        -> LoadStage {
        let scale = if tenth { 10.0 } else { 1.0 };
        let duration = Some(Duration::from_millis(millis));
        LoadStage { from: f64::from(from) / scale, to: f64::from(to) / scale, duration }
    }
}

proptest! {
    #[test]
    fn nothing_panics(word: String) {
        let _ = (rate(&word), connections(&word));
    }

    #[test]
    fn texts_similar_to_loads_do_not_panic(word in r"[0-9./,+*\[\]smh-]{0,24}") {
        let _ = (rate(&word), connections(&word));
    }

    #[test]
    fn a_written_shape_is_read_back(stages in prop::collection::vec(any_stage(), 1..5), last: Option<u16>) {
        let last = last.map(|v| LoadStage { from: f64::from(v), to: f64::from(v), duration: None });
        let shape = LoadShape { stages: stages.into_iter().chain(last).collect() };
        prop_assert_eq!(parse(&shape.to_string()), Ok(Loads::One(shape)));
    }

    #[test]
    fn the_time_of_a_stage_is_parsed_like_a_duration(word in "[0-9.]{1,4}(ns|ms|s|m|h|)") {
        let expected = duration::positive(&word).ok();
        let stage = parse(&format!("500/{word}")).ok().and_then(|loads| match loads {
            Loads::One(shape) => shape.stages[0].duration,
            Loads::Sweep(_) => None,
        });
        prop_assert_eq!(stage, expected);
    }

    #[test]
    fn a_sweep_includes_its_end(from in 1..1000_u32, step in 1..100_u32, steps in 0..100_u32) {
        let to = from + step * steps;
        let Ok(Loads::Sweep(values)) = parse(&format!("{from}..{to}+{step}")) else { panic!("no sweep") };
        prop_assert_eq!(values.len(), steps as usize + 1);
        prop_assert_eq!(values.last(), Some(&f64::from(to)));
    }
}
