//! Measures the CPU time of other processes on this machine during a check.

use brunt_engine::clock::WorkerClock;
use brunt_model::reading_names as name;
use brunt_model::{Clock, Tick};
use brunt_probe::{ReadingMoment, SelfProbe};
use brunt_wire::Timer;
use std::time::Duration;

/// Minimum time of a measurement: the kernel counts CPU time in ticks of 10 ms.
const MIN_DURATION: Duration = Duration::from_millis(250);

/// A measurement that has begun.
pub(super) struct MachineLoad {
    readings: SelfProbe,
    began: Tick,
    first: Option<CpuTime>,
}

/// CPU time in seconds.
#[derive(Clone, Copy)]
struct CpuTime {
    /// CPU time of all processes.
    machine: f64,
    /// CPU time of this process.
    this_process: f64,
}

impl MachineLoad {
    /// Begins a measurement of the CPU time of other processes.
    pub fn begin(time: &WorkerClock) -> Self {
        let mut readings = SelfProbe::new(&[]);
        let first = cpu_time(&mut readings);
        Self { readings, began: time.now(), first }
    }

    /// Ends the measurement. Returns the cores that other processes used on average; None if the
    /// system does not show it.
    pub async fn end(mut self, time: &WorkerClock) -> Option<f64> {
        time.sleep_until(self.began + MIN_DURATION).await;
        let seconds = time.now().seconds_since(self.began);
        let last = cpu_time(&mut self.readings)?;
        let first = self.first?;
        let others = (last.machine - first.machine) - (last.this_process - first.this_process);
        Some((others / seconds).max(0.0))
    }
}

fn cpu_time(readings: &mut SelfProbe) -> Option<CpuTime> {
    let values = readings.read(0, ReadingMoment::Edge);
    // Stolen time belongs to other guests of the host, and a wait for a disk uses no CPU.
    let idle = sum(&values, &[name::HOST_IDLE, name::HOST_IOWAIT, name::HOST_STEAL])?;
    let machine = sum(&values, &name::HOST_PARTS)? - idle;
    let this_process = sum(&values, &[name::CPU_USER, name::CPU_SYSTEM])?;
    Some(CpuTime { machine, this_process })
}

/// Sum of the values with these names; None if one is missing.
fn sum(values: &[(String, f64)], names: &[&str]) -> Option<f64> {
    names.iter().map(|name| values.iter().find(|value| value.0 == *name).map(|value| value.1)).sum()
}
