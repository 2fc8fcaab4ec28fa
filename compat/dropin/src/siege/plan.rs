//! Builds the plan of a siege run.

use super::request::request;
use super::settings::{Look, Reps, SiegeSettings};
use super::urls::{Login, UrlEntry};
use crate::error::ToolResult;
use crate::run_setup::processes;
use brunt_model::load::{LoadShape, ThinkTime};
use brunt_model::plan::{ConnectionSettings, Dialling, HttpVersion, RecordSettings, TlsSettings};
use brunt_model::reply_policy::{
    Cookies, Credentials, Elements, PageCache, RedirectRules, Redirects,
};
use brunt_model::scenario::{Branch, ListOrder, Portion, Scenario, ScenarioStep};
use brunt_model::{Load, Plan, Population, ReplyPolicy, Request, Stop};
use brunt_spec::{System, to_plan};
use std::time::Duration;

/// Interval at which the engine delivers samples and failures are checked.
const INTERVAL: Duration = Duration::from_millis(100);
/// Maximum number of redirects in a row.
const MAX_REDIRECTS: u32 = 20;
/// Maximum number of labels if each transaction is printed with its URL. Otherwise
/// only brunt's reports need labels.
const LABELS_SHOWN: u32 = 1 << 20;
const LABELS: u32 = 1000;

/// Number of users: `--concurrent`, up to the limit of siegerc.
pub fn users(settings: &SiegeSettings) -> u64 {
    if settings.look.is_some() { 1 } else { settings.concurrent.clamp(1, settings.limit.max(1)) }
}

/// Builds the plan. Also returns a note for the user about source addresses, if any.
pub fn plan(
    settings: &SiegeSettings,
    urls: &[UrlEntry],
    system: &System,
) -> ToolResult<(Plan, Option<String>)> {
    let users = users(settings);
    // Without a bound, the conversion would panic for large numbers.
    let think = ThinkTime {
        least: Duration::ZERO,
        most: Duration::from_secs_f64(settings.pause().min(1e6)),
    };
    let mut plan = Plan {
        populations: Population::only(
            Load::Closed { users: LoadShape::constant(users as f64), think },
            scenario(settings, urls),
            stop(settings, urls.len() as u64),
        ),
        reply_policies: vec![reply_policy(settings, urls)],
        connection: connection(settings),
        objectives: Vec::new(),
        until: None,
        record: RecordSettings {
            interval: INTERVAL,
            labels: if settings.shows_lines() { LABELS_SHOWN } else { LABELS },
            samples: true,
            records: None,
        },
        seed: system.seed,
        threads: settings.brunt_options.threads.unwrap_or(1),
        processes: processes(
            users,
            settings.brunt_options.processes,
            settings.brunt_options.fleet.as_ref(),
        )?,
        allowed_targets: settings.brunt_options.allowed_targets.clone(),
        fleet: settings.brunt_options.fleet.clone(),
        precise: false,
        stages: Vec::new(),
    };
    let note = to_plan::with_sources(&mut plan, system);
    Ok((plan, note))
}

/// Builds the scenario: each user first requests one of the login URLs, then goes through the list.
///
/// User i takes the i-th login URL, counted cyclically.
fn scenario(settings: &SiegeSettings, urls: &[UrlEntry]) -> Scenario {
    let order = match settings.reps {
        _ if settings.internet => ListOrder::Random,
        Some(Reps::Once) => ListOrder::WalkTogether,
        _ => ListOrder::Walk,
    };
    let mut requests: Vec<Request> = urls.iter().map(|url| request(url, settings)).collect();
    let logins = settings
        .login_urls
        .iter()
        .filter_map(|url| UrlEntry::parse(url, settings.url_escaping).ok());
    let url_count = requests.len();
    // Weight 0 keeps the login URLs out of the list.
    requests.extend(logins.map(|login| Request { weight: 0, ..request(&login, settings) }));
    let branches: Vec<Branch> = (url_count..requests.len())
        .map(|number| Branch { weight: 1, steps: vec![ScenarioStep::Request(number as u32)] })
        .collect();
    let first = (!branches.is_empty()).then(|| {
        ScenarioStep::Once(vec![ScenarioStep::Choose {
            order: ListOrder::User,
            portion: Portion::Whole,
            branches,
        }])
    });
    Scenario::of(requests, first.into_iter().chain([ScenarioStep::Next(order)]).collect())
}

fn reply_policy(settings: &SiegeSettings, urls: &[UrlEntry]) -> ReplyPolicy {
    let url_logins = urls.iter().filter_map(|url| url.login.as_ref());
    let logins = settings.proxy_login.iter().chain(url_logins).chain(&settings.logins);
    let most = if settings.follow { MAX_REDIRECTS } else { 0 };
    ReplyPolicy {
        redirects: Redirects { most, rules: RedirectRules::Siege },
        // Each user has its own cookies. siege's single jar would make all users one person.
        cookies: if settings.expire_session { Cookies::KeptForARound } else { Cookies::Siege },
        credentials: logins.cloned().map(credentials).collect(),
        repeats_unauthorized: settings.attempts.clamp(1, 100) as u32 - 1,
        // siege also parses elements that are pages, endlessly if they name themselves. Here
        // elements are not parsed.
        elements: settings
            .parser
            .then(|| Elements { not_from: settings.nofollow.clone(), ..Elements::default() }),
        cache: settings.cache.then(PageCache::default),
        ..ReplyPolicy::default()
    }
}

fn credentials(login: Login) -> Credentials {
    Credentials { realm: login.realm, user: login.user, password: login.password }
}

fn stop(settings: &SiegeSettings, urls: u64) -> Stop {
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

fn connection(settings: &SiegeSettings) -> ConnectionSettings {
    // siege's timeout bounds connecting only. Here it also bounds the reply, so that a silent
    // server is noticed.
    let timeout = Duration::from_secs(settings.timeout.clamp(1, 1_000_000) as u64);
    let keep_alive = settings.keep_alive && settings.look.is_none();
    ConnectionSettings {
        http: if settings.http10 { HttpVersion::V1_0 } else { HttpVersion::V1_1 },
        requests_per_connection: (!keep_alive).then_some(1),
        retry_stale: true,
        connect_rate: u32::MAX,
        dialling: Dialling::Eager,
        // siege has one connection at a time.
        other_origins: 0,
        proxy: settings
            .proxy_host
            .as_ref()
            .map(|host| format!("http://{host}:{}", settings.proxy_port)),
        tls: TlsSettings {
            cert: settings.ssl_cert.clone(),
            key: settings.ssl_key.clone(),
            // siege verifies no certificate.
            insecure: true,
            ..TlsSettings::default()
        },
        ..ConnectionSettings::plain(timeout, timeout)
    }
}

/// Applies the changes of `-g` and `-p` to the settings and URLs.
pub fn apply_look(settings: &mut SiegeSettings, urls: &mut [UrlEntry]) {
    let Some(look) = settings.look else { return };
    settings.http10 = true;
    settings.keep_alive = false;
    settings.parser = false;
    let is_head = look == Look::Heads && settings.gmethod == Some("HEAD");
    urls.iter_mut()
        .filter(|url| url.method == "GET" && is_head)
        .for_each(|url| url.method = "HEAD".into());
}
