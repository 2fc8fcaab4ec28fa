//! Defines the cases: the behavior of the reference server, and the load on it.
//!
//! The options of the lab define the server's behavior, and the lab computes the truth.

/// A server with known true figures, and the load on it.
#[derive(Debug, PartialEq)]
pub struct ReferenceCase {
    /// Name on the command line and at the top of the case's column.
    pub name: &'static str,
    /// Description of the server's behavior for the reader.
    pub about: &'static str,
    /// Options of `brunt lab`.
    pub lab: &'static str,
    /// Requests per second of the open loop.
    pub rate: u32,
    /// Connections of the closed loop. Its rate is about that of the open loop while
    /// the server works normally.
    pub connections: u32,
    /// Maximum number of connections that the open loop may need: the arrivals during the longest
    /// hold, and some more.
    pub most: u32,
    /// Period of the server's behavior in seconds, and the offset in the last period at which the
    /// load ends. The requested length is extended to that.
    pub period: Option<(u32, u32)>,
    /// Start and length of the time for which the server is stopped from outside, in seconds.
    pub freeze: Option<(u32, u32)>,
    /// Figures that are compared with the truth.
    pub compares: Comparand,
}

/// Kind of figures that are compared with the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparand {
    /// Quantiles of the response times.
    Times,
    /// Counts of failed and refused requests.
    Errors,
}

impl ReferenceCase {
    /// Returns the length of the load for a requested length, in seconds.
    pub fn seconds(&self, requested: u32) -> u32 {
        let least =
            self.freeze.map_or(requested, |(start, length)| requested.max(start + 3 * length));
        self.period.map_or(least, |(period, rest)| {
            least.saturating_sub(rest).div_ceil(period).max(1) * period + rest
        })
    }
}

const NONE: ReferenceCase = ReferenceCase {
    name: "",
    about: "",
    lab: "",
    rate: 1000,
    connections: 5,
    most: 64,
    period: None,
    freeze: None,
    compares: Comparand::Times,
};

/// All cases, in the order of the columns.
pub const CASES: [ReferenceCase; 8] = [
    ReferenceCase {
        name: "const",
        about: "every request takes 5 ms",
        lab: "--service const:5ms",
        ..NONE
    },
    ReferenceCase {
        name: "exp",
        about: "exponential service, mean 5 ms",
        lab: "--service exp:5ms",
        ..NONE
    },
    ReferenceCase {
        name: "lognormal",
        about: "lognormal service, mean 5 ms, sigma 1",
        lab: "--service lognormal:5ms,1",
        most: 128,
        ..NONE
    },
    ReferenceCase {
        name: "queue",
        about: "4 workers of 5 ms (exponential) with one queue, 90 % busy",
        lab: "--service exp:5ms --workers 4",
        rate: 720,
        connections: 8,
        most: 256,
        ..NONE
    },
    ReferenceCase {
        name: "stall",
        about: "2 ms, but all replies are held for the last second of every five",
        lab: "--service const:2ms --stall 1s/5s",
        rate: 400,
        connections: 1,
        most: 600,
        period: Some((5, 2)),
        ..NONE
    },
    ReferenceCase {
        name: "drip",
        about: "5 ms; one reply in twenty comes byte by byte, one a millisecond",
        lab: "--service const:5ms --fail 5%:slow --drip 1ms",
        rate: 500,
        connections: 4,
        most: 128,
        ..NONE
    },
    ReferenceCase {
        name: "resets",
        about: "5 ms; 2 % are reset, 1 % end within the body, 1 % are answered 503",
        lab: "--service const:5ms --fail 2%:reset --fail 1%:close-early --fail 1%:503",
        rate: 500,
        connections: 3,
        compares: Comparand::Errors,
        ..NONE
    },
    ReferenceCase {
        name: "freeze",
        about: "5 ms; the whole server is stopped (SIGSTOP) for 2 s",
        lab: "--service const:5ms",
        rate: 300,
        connections: 2,
        most: 800,
        freeze: Some((4, 2)),
        ..NONE
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_lab::args::LabOptions;
    use clap::Parser;

    #[test]
    fn the_lab_accepts_the_options_of_every_case() {
        for case in &CASES {
            let options =
                LabOptions::try_parse_from(["lab"].into_iter().chain(case.lab.split(' '))).unwrap();
            assert!(options.check().is_ok() && options.is_recorded(), "{}", case.name);
            assert!(case.name.len() <= 9, "{} is too long for its column", case.name);
        }
    }

    #[test]
    fn a_load_does_not_end_during_a_stall() {
        let named = |name: &str| CASES.iter().find(|case| case.name == name).unwrap();
        assert_eq!(
            [2, 7, 10, 12, 13].map(|asked| named("stall").seconds(asked)),
            [7, 7, 12, 12, 17]
        );
        assert_eq!([2, 10, 30].map(|asked| named("freeze").seconds(asked)), [10, 10, 30]);
        assert_eq!(named("exp").seconds(10), 10);
    }

    #[test]
    fn cases_have_enough_connections_during_a_stall() {
        for case in &CASES {
            let hold = case.freeze.map_or(u32::from(case.period.is_some()), |(_, length)| length);
            assert!(case.most > case.rate * hold, "{}", case.name);
        }
    }
}
