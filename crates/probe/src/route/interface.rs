//! Reads the properties of a network interface from `/sys/class/net`.

use crate::Root;
use brunt_model::Route;
use std::fs;

/// Maximum number of interfaces that are examined.
const MAX_INTERFACES: usize = 4096;

/// Returns the name of the interface with this index.
pub(super) fn name(root: &Root, number: u32) -> Option<String> {
    let entries = fs::read_dir(root.path("sys/class/net")).ok()?;
    let mut names =
        entries.take(MAX_INTERFACES).filter_map(|e| e.ok()?.file_name().into_string().ok());
    names
        .find(|name| root.whole(format!("sys/class/net/{name}/ifindex")) == Some(u64::from(number)))
}

/// Fills in name, speed and MTU of an interface. Loopback, tunnels and many virtual
/// cards have no speed.
pub(super) fn fill(root: &Root, name: String, route: &mut Route) {
    // The file contains megabits per second; -1 or nothing if unknown (sysfs-class-net).
    let speed = root
        .whole(format!("sys/class/net/{name}/speed"))
        .filter(|s| *s > 0 && *s < u64::from(u32::MAX));
    route.link_bits_per_second = speed.map(|megabits| megabits * 1_000_000);
    route.mtu_bytes = root.whole(format!("sys/class/net/{name}/mtu"));
    route.interface = Some(name);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(speed: &str) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        for (name, number, speed) in [("lo", "1", ""), ("eth0", "7", speed)] {
            let folder = dir.path().join("sys/class/net").join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("ifindex"), format!("{number}\n")).unwrap();
            fs::write(folder.join("mtu"), "9000\n").unwrap();
            fs::write(folder.join("speed"), format!("{speed}\n")).unwrap();
        }
        let root = Root::recorded(dir.path());
        (dir, root)
    }

    fn read(speed: &str) -> Route {
        let (_dir, root) = recorded(speed);
        let mut route = Route::default();
        fill(&root, name(&root, 7).unwrap(), &mut route);
        assert_eq!(name(&root, 8), None);
        route
    }

    #[test]
    fn speed_is_in_bits_per_second() {
        let route = read("10000");
        assert_eq!(route.interface.as_deref(), Some("eth0"));
        assert_eq!(
            (route.link_bits_per_second, route.mtu_bytes),
            (Some(10_000_000_000), Some(9000))
        );
    }

    #[test]
    fn an_unknown_speed_is_none() {
        for unknown in ["-1", "", "0", "4294967295"] {
            assert_eq!(read(unknown).link_bits_per_second, None, "{unknown}");
        }
    }
}
