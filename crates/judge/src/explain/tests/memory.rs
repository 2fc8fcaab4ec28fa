use super::world::{SimulatedRequest, World, reply};
use brunt_model::Route;
use brunt_model::reading_names::{self as name, server};

const SOAK: f64 = 400.0;
const PROBE: &str = "process:shop";

/// A soak at a constant rate, with this memory of the probed server in MB.
fn soak(seconds: f64, megabytes: impl Fn(f64) -> f64) -> World {
    World::open(5.0).lasting(seconds).answering(|_| reply(0.004)).reading(
        PROBE,
        server::ANONYMOUS,
        move |at| megabytes(at) * 1e6,
    )
}

fn leak(at: f64) -> f64 {
    200.0 + 0.1 * at
}

#[test]
fn a_leak_is_reported_with_its_rate_and_the_time_that_is_left() {
    let world = soak(SOAK, leak).reading(PROBE, name::MEMORY_AVAILABLE, |_| 7.2e9);
    let sentence = world.says("server_memory");
    assert!(sentence.starts_with("The memory of shop grew steadily from 204 MB to "), "{sentence}");
    assert!(sentence.contains(" in 6 min 40 s: 360 (95 % CI 360–360) MB/h."), "{sentence}");
    assert!(
        sentence.ends_with("the available memory of the machine (7.20 GB) lasts 20 h."),
        "{sentence}"
    );
    let grouped = world.reading(PROBE, server::GROUP_ROOM, |_| 90e6).says("server_memory");
    assert!(grouped.ends_with("may still use (90.0 MB) lasts 15 min."), "{grouped}");
}

#[test]
fn the_memory_of_the_listener_is_examined_without_a_probe() {
    let world = World::closed(2, 1.0)
        .lasting(SOAK)
        .answering(|_| reply(0.1))
        .loopback()
        .route(Route { listener: Some("python3 (pid 7)".into()), ..Route::default() })
        .reading(name::GENERATOR, name::SERVER_ANONYMOUS, |at| leak(at) * 1e6);
    let sentence = world.says("server_memory");
    assert!(sentence.starts_with("The memory of python3 (pid 7) grew steadily"), "{sentence}");
}

#[test]
fn memory_that_may_not_grow_further_is_not_reported() {
    soak(250.0, leak).is_silent("server_memory");
    soak(SOAK, |_| 200.0).is_silent("server_memory");
    soak(SOAK, |at| 200.0 + 0.02 * at).is_silent("server_memory");
    soak(SOAK, |at| 20.0 + 0.005 * at).is_silent("server_memory");
    soak(SOAK, |at| 200.0 + 60.0 * (1.0 - (-at / 100.0).exp())).is_silent("server_memory");
    soak(SOAK, |at| 200.0 + (at % 60.0)).is_silent("server_memory");
    soak(SOAK, |at| 200.0 + 30.0 * (at / 150.0).floor()).is_silent("server_memory");
}

#[test]
fn memory_that_grows_with_the_load_is_not_reported() {
    let ramp = soak(SOAK, leak).with(|world| {
        if let brunt_model::Load::Open { rate, .. } = &mut world.plan.main_mut().load {
            rate.stages[0].from = 1.0;
        }
    });
    ramp.is_silent("server_memory");
    // Requests queue up in the server.
    let queue = |request: SimulatedRequest| reply(0.004 + 0.2 * request.at);
    soak(SOAK, leak).answering(queue).is_silent("server_memory");
}

#[test]
fn a_server_that_ended_early_is_not_reported() {
    let world = World::open(5.0).lasting(200.0).answering(|_| reply(0.004));
    let ended = world.reading(PROBE, server::ANONYMOUS, |at| leak(at) * 1e6).lasting(SOAK);
    ended.is_silent("server_memory");
}
