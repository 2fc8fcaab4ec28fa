//! Measures how busy other processes keep this machine while a check looks at the server.

use brunt_engine::clock::Time;
use brunt_model::reading_names as name;
use brunt_model::{Clock, Tick};
use brunt_probe::ourselves::Ourselves;
use brunt_wire::Timer;
use std::time::Duration;

/// Shortest time of a measurement: the kernel counts CPU time in ticks of 10 ms.
const SHORTEST: Duration = Duration::from_millis(250);

/// A measurement that is going on.
pub(super) struct MachineLoad {
    readings: Ourselves,
    began: Tick,
    first: Option<CpuTime>,
}

/// CPU time so far, in seconds.
#[derive(Clone, Copy)]
struct CpuTime {
    /// Of all processes.
    machine: f64,
    /// Of this one.
    own: f64,
}

impl MachineLoad {
    /// Begins to measure.
    pub fn begin(time: &Time) -> Self {
        let mut readings = Ourselves::new(&[]);
        let first = cpu_time(&mut readings);
        Self { readings, began: time.now(), first }
    }

    /// Cores that processes other than this one used on average; None where the system does not show it.
    pub async fn end(mut self, time: &Time) -> Option<f64> {
        time.sleep_until(self.began + SHORTEST).await;
        let seconds = time.now().seconds_since(self.began);
        let last = cpu_time(&mut self.readings)?;
        let first = self.first?;
        let others = (last.machine - first.machine) - (last.own - first.own);
        Some((others / seconds).max(0.0))
    }
}

fn cpu_time(readings: &mut Ourselves) -> Option<CpuTime> {
    let values = readings.read(0);
    let sum = |names: &[&str]| -> Option<f64> {
        names.iter().map(|name| values.iter().find(|value| value.0 == *name).map(|value| value.1)).sum()
    };
    let idle = [name::HOST_IDLE, name::HOST_IOWAIT, name::HOST_STEAL];
    Some(CpuTime { machine: sum(&name::HOST_PARTS)? - sum(&idle)?, own: sum(&[name::CPU_USER, name::CPU_SYSTEM])? })
}
