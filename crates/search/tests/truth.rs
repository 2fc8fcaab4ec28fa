mod simulation;
use rand::SeedableRng as _;
use simulation::KINDS;
use simulation::servers::Server;

#[test]
fn truths() {
    let n: f64 = std::env::var("REQ").ok().and_then(|n| n.parse().ok()).unwrap_or(1e6);
    let only: Option<usize> = std::env::var("K").ok().and_then(|n| n.parse().ok());
    for (index, kind) in KINDS.iter().enumerate().filter(|(i, _)| only.is_none_or(|o| o == *i)) {
        let share = |rate: f64, seed: u64| {
            let mut server = Server::new(*kind, rand_pcg::Pcg64Mcg::seed_from_u64(seed));
            server.load(rate, 20.0, |_| ());
            let (mut all, mut slow) = (0.0, 0.0);
            server.load(rate, 20.0 + n / rate, |(_, t)| {
                all += 1.0;
                slow += f64::from(u8::from(t > kind.bound));
            });
            slow / all
        };
        let (mut low, mut high) = (kind.capacity * 0.5, kind.capacity * 1.3);
        for step in 0..14 {
            let middle = f64::midpoint(low, high);
            if share(middle, 99) < 0.01 {
                low = middle
            } else {
                high = middle
            }
            if step == 9 {
                println!("{}: {low}..{high}", kind.name);
            }
        }
        let slope = (share(high * 1.01, 5).ln() - share(high * 0.99, 5).ln()) / 0.02;
        println!("{index} {}: {low} seed 7: {} seed 8: {} slope {slope}", kind.name, share(low, 7), share(low, 8));
    }
}
