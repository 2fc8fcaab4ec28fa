//! siege's wishes as a plan.

use super::request::request;
use super::settings::{Look, Reps, Settings};
use super::urls::{Login, UrlEntry};
use crate::error::Result;
use crate::run_setup::processes;
use brunt_model::load::{Shape, Think};
use brunt_model::plan::{Connection, Dialling, HttpVersion, Record, Tls};
use brunt_model::reply_policy::{Cookies, Credentials, Elements, PageCache, RedirectRules, Redirects};
use brunt_model::scenario::{Branch, Order, Portion, Scenario, Step};
use brunt_model::{Load, Plan, Population, ReplyPolicy, Request, Stop};
use brunt_spec::{System, to_plan};
use std::time::Duration;

/// How often samples leave the engine, and failures are looked at.
const INTERVAL: Duration = Duration::from_millis(100);
/// Redirects in a row.
const REDIRECTS: u32 = 20;
/// Labels kept apart where each transaction is shown by its URL; otherwise there are only those of the side files.
const LABELS_SHOWN: u32 = 1 << 20;
const LABELS: u32 = 1000;

/// How many users there are: as many as are asked for, up to the limit.
pub fn users(settings: &Settings) -> u64 {
    if settings.look.is_some() { 1 } else { settings.concurrent.clamp(1, settings.limit.max(1)) }
}

/// The plan, and what must be told of it.
pub fn plan(settings: &Settings, asked: &[UrlEntry], system: &System) -> Result<(Plan, Option<String>)> {
    let users = users(settings);
    let think = Think { least: Duration::ZERO, most: Duration::from_secs_f64(settings.pause().min(1e6)) };
    let mut plan = Plan {
        populations: Population::only(
            Load::Closed { users: Shape::constant(users as f64), think },
            scenario(settings, asked),
            stop(settings, asked.len() as u64),
        ),
        reply_policies: vec![reply_policy(settings, asked)],
        connection: connection(settings),
        objectives: Vec::new(),
        until: None,
        record: Record {
            interval: INTERVAL,
            labels: if settings.shows_lines() { LABELS_SHOWN } else { LABELS },
            samples: true,
            records: None,
        },
        seed: system.seed,
        threads: settings.brunt_options.threads.unwrap_or(1),
        processes: processes(users, settings.brunt_options.processes)?,
        precise: false,
        around: Vec::new(),
    };
    let note = to_plan::with_sources(&mut plan, system);
    Ok((plan, note))
}

/// The URLs of the logins are asked first, by user i the i-th of them, counted round; then each user goes through the list.
fn scenario(settings: &Settings, asked: &[UrlEntry]) -> Scenario {
    let order = match settings.reps {
        _ if settings.internet => Order::Random,
        Some(Reps::Once) => Order::WalkTogether,
        _ => Order::Walk,
    };
    let mut requests: Vec<Request> = asked.iter().map(|one| request(one, settings)).collect();
    let logins = settings.login_urls.iter().filter_map(|url| UrlEntry::parse(url, settings.url_escaping).ok());
    let listed = requests.len();
    requests.extend(logins.map(|login| Request { weight: 0, ..request(&login, settings) }));
    let login = |number: usize| Branch { weight: 1, steps: vec![Step::Request(number as u32)] };
    let branches: Vec<Branch> = (listed..requests.len()).map(login).collect();
    let first = (!branches.is_empty())
        .then(|| Step::Once(vec![Step::Choose { order: Order::User, portion: Portion::Whole, branches }]));
    Scenario::of(requests, first.into_iter().chain([Step::Next(order)]).collect())
}

fn reply_policy(settings: &Settings, asked: &[UrlEntry]) -> ReplyPolicy {
    let of_urls = asked.iter().filter_map(|one| one.login.as_ref());
    let logins = settings.proxy_login.iter().chain(of_urls).chain(&settings.logins);
    let most = if settings.follow { REDIRECTS } else { 0 };
    ReplyPolicy {
        redirects: Redirects { most, rules: RedirectRules::Siege },
        cookies: if settings.expire_session { Cookies::KeptForARound } else { Cookies::Siege },
        credentials: logins.cloned().map(credentials).collect(),
        repeats_unauthorized: settings.attempts.clamp(1, 100) as u32 - 1,
        elements: settings.parser.then(|| Elements { not_from: settings.nofollow.clone(), ..Elements::default() }),
        cache: settings.cache.then(PageCache::default),
        ..ReplyPolicy::default()
    }
}

fn credentials(login: Login) -> Credentials {
    Credentials { realm: login.realm, user: login.user, password: login.password }
}

fn stop(settings: &Settings, urls: u64) -> Stop {
    let duration = settings.time.filter(|_| settings.look.is_none());
    let times = match settings.reps {
        _ if settings.look.is_some() => Some(1),
        Some(Reps::Once) => Some(urls),
        Some(Reps::Times(times)) => Some(times.max(1)),
        None => None,
    };
    Stop {
        warmup: Duration::ZERO,
        warmup_until_steady: false,
        duration,
        requests: None,
        // The time counts if both are given.
        iterations_per_user: times.filter(|_| duration.is_none()),
        grace: Duration::ZERO,
    }
}

fn connection(settings: &Settings) -> Connection {
    let timeout = Duration::from_secs(settings.timeout.clamp(1, 1_000_000) as u64);
    let keep_alive = settings.keep_alive && settings.look.is_none();
    Connection {
        http: if settings.http10 { HttpVersion::V1_0 } else { HttpVersion::V1_1 },
        requests_per_connection: (!keep_alive).then_some(1),
        retry_stale: true,
        connect_rate: u32::MAX,
        dialling: Dialling::Eager,
        // It has one connection at a time.
        other_origins: 0,
        proxy: settings.proxy_host.as_ref().map(|host| format!("http://{host}:{}", settings.proxy_port)),
        tls: Tls {
            cert: settings.ssl_cert.clone(),
            key: settings.ssl_key.clone(),
            // siege looks at no certificate.
            insecure: true,
            ..Tls::default()
        },
        ..Connection::plain(timeout, timeout)
    }
}

/// What `-g` and `-p` change before anything is asked.
pub fn look(settings: &mut Settings, asked: &mut [UrlEntry]) {
    let Some(look) = settings.look else { return };
    settings.http10 = true;
    settings.keep_alive = false;
    settings.parser = false;
    let head = look == Look::Heads && settings.gmethod == Some("HEAD");
    asked.iter_mut().filter(|one| one.method == "GET" && head).for_each(|one| one.method = "HEAD".into());
}
