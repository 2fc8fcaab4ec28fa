//! Tests pages that nginx, Apache 2.4, php-fpm 8.2 and Tomcat 10 of Debian 12 returned. They were
//! recorded while three children of php-fpm slept, and are in `tests/`. Pages of `HAProxy` and
//! Prometheus follow their documentation.

use super::prometheus::selectors;
use super::*;
use brunt_model::reading_names::{self as name, Nic, server};
use proptest::prelude::*;
use std::collections::BTreeMap;

const NGINX: &str = include_str!("tests/nginx.txt");
const FPM: &str = include_str!("tests/fpm.json");
const FPM_DYNAMIC: &str = include_str!("tests/fpm-dynamic.json");
const APACHE_EVENT: &str = include_str!("tests/apache-event.txt");
const APACHE_PREFORK: &str = include_str!("tests/apache-prefork.txt");
const TOMCAT: &str = include_str!("tests/tomcat.xml");
const HAPROXY: &str = include_str!("tests/haproxy.csv");
const NODE: &str = include_str!("tests/node.prom");

fn map(values: Option<Values>) -> BTreeMap<String, f64> {
    let values = values.unwrap().0;
    let map: BTreeMap<String, f64> = values.iter().cloned().collect();
    assert_eq!(map.len(), values.len(), "a name is told twice: {values:?}");
    map
}

fn holds(values: Option<Values>, expected: &[(&str, f64)]) -> BTreeMap<String, f64> {
    let values = map(values);
    for (name, value) in expected {
        assert_eq!(values.get(*name), Some(value), "{name}: {values:?}");
    }
    values
}

#[test]
fn nginx_counts_connections() {
    holds(
        nginx::parse(NGINX, Some(200)),
        &[
            (server::CONNECTIONS, 6.0),
            (server::CONNECTIONS_ACTIVE, 6.0),
            (server::CONNECTIONS_IDLE, 0.0),
            (server::REQUESTS, 6.0),
            (server::REFUSED, 0.0),
            (server::CONNECTIONS_LIMIT, 200.0),
        ],
    );
}

#[test]
fn php_fpm_of_a_fixed_size_has_all_its_children() {
    let values = holds(
        php_fpm::parse(FPM, &mut php_fpm::Limit::default()),
        &[
            (server::WORKERS_BUSY, 3.0),
            (server::WORKERS_IDLE, 0.0),
            (server::WORKERS_LIMIT, 3.0),
            (server::REQUESTS, 3.0),
        ],
    );
    assert!(!values.contains_key(server::QUEUE), "php-fpm sees no queue of a Unix socket");
    let tcp = FPM
        .replace("\"listen queue len\":0", "\"listen queue len\":64")
        .replace("\"listen queue\":0", "\"listen queue\":35");
    holds(
        php_fpm::parse(&tcp, &mut php_fpm::Limit::default()),
        &[(server::QUEUE, 35.0), (server::QUEUE_LIMIT, 64.0)],
    );
}

#[test]
fn php_fpm_of_a_varying_size_shows_its_limit_when_it_is_reached() {
    let mut limit = php_fpm::Limit::default();
    assert!(!map(php_fpm::parse(FPM_DYNAMIC, &mut limit)).contains_key(server::WORKERS_LIMIT));
    let reached = FPM_DYNAMIC
        .replace("children reached\":0", "children reached\":1")
        .replace("\"total processes\":2", "\"total processes\":5");
    holds(
        php_fpm::parse(&reached, &mut limit),
        &[(server::WORKERS_LIMIT, 5.0), (server::WORKERS_EXHAUSTED, 1.0)],
    );
    holds(
        php_fpm::parse(&reached.replace(":5", ":4"), &mut limit),
        &[(server::WORKERS_LIMIT, 5.0)],
    );
}

#[test]
fn apache_slots_are_counted() {
    let event = [
        (server::WORKERS_BUSY, 1.0),
        (server::WORKERS_IDLE, 74.0),
        (server::WORKERS_LIMIT, 400.0),
        (server::CONNECTIONS, 0.0),
    ];
    holds(apache::parse(APACHE_EVENT), &event);
    let prefork = [
        (server::WORKERS_BUSY, 1.0),
        (server::WORKERS_IDLE, 4.0),
        (server::WORKERS, 5.0),
        (server::WORKERS_LIMIT, 256.0),
    ];
    holds(apache::parse(APACHE_PREFORK), &prefork);
}

#[test]
fn tomcat_reports_each_connector_and_the_fullest() {
    let busy = |connector: &str| server::of_connector(connector, server::WORKERS_BUSY);
    let (nio, nio2) = (busy("http-nio-127.0.0.1-29204"), busy("http-nio2-127.0.0.1-29205"));
    holds(
        tomcat::parse(TOMCAT),
        &[
            (server::WORKERS_BUSY, 1.0),
            (server::WORKERS, 10.0),
            (server::WORKERS_LIMIT, 50.0),
            (&nio, 1.0),
            (&nio2, 0.0),
        ],
    );
}

#[test]
fn haproxy_reports_its_fullest_frontend_and_its_servers() {
    holds(
        haproxy::parse(HAPROXY),
        &[
            (server::CONNECTIONS, 120.0),
            (server::CONNECTIONS_LIMIT, 200.0),
            (server::QUEUE, 7.0),
            (server::WORKERS_BUSY, 39.0),
            (server::WORKERS_LIMIT, 40.0),
            (server::REQUESTS, 9017.0),
            ("connector.app.queue.length", 7.0),
        ],
    );
}

#[test]
fn known_metrics_of_node_exporter_have_the_names_of_a_host() {
    let values = holds(
        prometheus::parse(NODE, &[]),
        &[
            (name::HOST_USER, 51.0),
            (name::HOST_IDLE, 200.0),
            (server::CORES, 2.0),
            (server::LOAD, 1.25),
            (name::MEMORY_AVAILABLE, 1_048_576.0),
            (name::SWAP_USED, 1e6),
            (&Nic::SentBytes.reading_name("eth0"), 12345.0),
            (&Nic::BitsPerSecond.reading_name("eth0"), 1e9),
            (&server::disk_busy("sda"), 7.5),
            (server::WORKERS_BUSY, 7.0),
            (server::WORKERS_LIMIT, 200.0),
        ],
    );
    assert!(!values.contains_key(&Nic::BitsPerSecond.reading_name("veth1")));
}

#[test]
fn metrics_are_chosen_by_name_and_labels() {
    let all = prometheus::parse(
        NODE,
        &selectors(&["node_cpu_seconds_total{mode=\"idle\"}", "odd_total"]),
    );
    let written = r#"odd_total{path="a\"b,c}d\\e\nf",le="1"}"#;
    let values = holds(
        all,
        &[
            (name::HOST_IDLE, 200.0),
            (r#"node_cpu_seconds_total{cpu="1",mode="idle"}"#, 99.5),
            (written, 3.0),
        ],
    );
    assert_eq!(values.len(), 5, "{values:?}");
}

#[test]
fn addresses_are_completed_and_passwords_are_hidden() {
    let of = |what: Probed| Page::open(&what).unwrap();
    let url = |text: &str| text.to_owned();
    let tomcat = of(Probed::Tomcat { url: url("http://me:p%40ss@h:1/manager/status") });
    assert_eq!(tomcat.url.unwrap().as_str(), "http://h:1/manager/status?XML=true");
    assert_eq!(tomcat.authorization.as_deref(), Some("Basic bWU6cEBzcw=="));
    let complete = |what| of(what).url.unwrap().to_string();
    assert_eq!(
        complete(Probed::PhpFpm { url: url("http://h/fpm?full") }),
        "http://h/fpm?full&json"
    );
    assert_eq!(complete(Probed::PhpFpm { url: url("http://h/fpm?json") }), "http://h/fpm?json");
    assert_eq!(
        complete(Probed::Apache { url: url("http://h/server-status") }),
        "http://h/server-status?auto"
    );
    assert_eq!(complete(Probed::Haproxy { url: url("http://h/stats") }), "http://h/stats;csv");
    let wrong =
        of(Probed::Nginx { url: url("ftp://me:secret@h/x"), connections: None }).url.unwrap_err();
    assert_eq!(wrong.to_string(), "h/x is no URL of a status page: write http://HOST:PORT/PATH");
}

/// Runs every parser on a text.
fn parse_all(text: &str) {
    nginx::parse(text, None);
    php_fpm::parse(text, &mut php_fpm::Limit::default());
    apache::parse(text);
    tomcat::parse(text);
    haproxy::parse(text);
    prometheus::parse(text, &selectors(&[text, "a{b=\"c\"}"]));
}

proptest! {
    #[test]
    fn arbitrary_pages_do_not_panic(text in ".{0,200}") {
        parse_all(&text);
    }

    #[test]
    fn truncated_or_changed_pages_do_not_panic(page in 0_usize..8, at in 0_usize..2000, with in ".{0,3}") {
        let whole = [NGINX, FPM, FPM_DYNAMIC, APACHE_EVENT, APACHE_PREFORK, TOMCAT, HAPROXY, NODE][page];
        let at = (0..=at.min(whole.len())).rev().find(|at| whole.is_char_boundary(*at)).unwrap();
        parse_all(&whole[..at]);
        parse_all(&format!("{}{with}{}", &whole[..at], &whole[at..]));
    }
}
