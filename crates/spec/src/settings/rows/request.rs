//! Settings of the requests.

use crate::defaults;
use crate::settings::row::{SettingRow as Row, on, set, whole};
use crate::settings::{ArgumentContent, RunSettings, SettingKey, ValueForm};
use crate::words::values::{self, secrets};
use crate::words::{WordError, events, named};
use brunt_model::scenario::ListOrder;

type S = RunSettings;

const REQUEST: &str = "Request";

/// Orders of a list of URLs, by word.
const ORDERS: [(&str, ListOrder); 4] = [
    ("sequence", ListOrder::Sequence),
    ("random", ListOrder::Random),
    ("walk", ListOrder::Walk),
    ("walk_together", ListOrder::WalkTogether),
];
// `Content::Choice` needs a static slice of words only.
const ORDER_WORDS: [&str; 4] = [ORDERS[0].0, ORDERS[1].0, ORDERS[2].0, ORDERS[3].0];

/// Parses the order of a list of URLs, such as `random`.
pub(crate) fn order(word: &str) -> Option<ListOrder> {
    ORDERS.iter().find(|row| row.0 == word).map(|row| row.1)
}

/// Maximum number of redirects of `-L`: the default of curl.
const LOCATION: u32 = 50;

/// Rows under the heading of requests.
pub static ROWS: [Row<RunSettings>; 25] = [
    Row::value("method", "METHOD", "Method", |w, _| set(values::method(w), |s: &mut S, v| s.request.method = Some(v)))
        .under(REQUEST)
        .short('X')
        // curl's name.
        .aliases(&["request"])
        .suggestions(values::suggested_methods)
        .otherwise_generated(|| {
            format!("{}, or {} with --data or --form", defaults::METHOD, defaults::METHOD_WITH_BODY)
        })
        .keys(&[SettingKey::new("script.request.method", ValueForm::Value)]),
    Row::repeated(
        "header",
        "NAME: VALUE|@FILE",
        "A header, or those of FILE, one a line. `${env:NAME}` is filled in from the environment, here and in \
         --basic, --bearer, --cookie, --data, --form and URLs",
        |w, env| set(secrets::headers(w, env), |s: &mut S, v| s.request.headers.extend(v)),
    )
    .under(REQUEST)
    .short('H')
    .keys(&[SettingKey::new("script.request.headers", ValueForm::Pairs(": ")).about("Headers, by name")]),
    Row::repeated(
        "header-file",
        "FILE",
        "Headers from FILE, one a line. A secret in a file does not show in `ps`",
        |w, env| set(secrets::header_file(w, env), |s: &mut S, v| s.request.header_files.extend(v)),
    )
    .under(REQUEST),
    Row {
        excludes: &["form"],
        ..Row::value(
            "data",
            "TEXT|@FILE",
            "Body: TEXT, or the content of FILE (- is standard input); sent as a form unless -H sets its type",
            |w, env| set(values::data(w, env), |s: &mut S, v| s.request.data = Some(v)),
        )
        .under(REQUEST)
        // curl's `--data` removes line breaks of files; `--data-binary` sends every byte, as brunt
        // does.
        .aliases(&["data-binary"])
        .keys(&[
            SettingKey::new("script.request.data", ValueForm::Data).about("Body: a text, or `@FILE`"),
            SettingKey::new("script.request.json", ValueForm::Json).about("Body: any value, which is sent as JSON"),
        ])
    },
    Row {
        excludes: &["data", "form"],
        ..Row::value(
            "json",
            "TEXT|@FILE",
            "Body: JSON, or the content of FILE; sets Content-Type and Accept unless -H does",
            |w, env| {
                set(values::data(w, env), |s: &mut S, v| {
                    s.request.data = Some(v);
                    s.request.data_is_json = true;
                    let headers = &mut s.request.headers;
                    // Like curl's `--json`.
                    for name in ["Content-Type", "Accept"] {
                        if !headers.iter().any(|header| header.0.eq_ignore_ascii_case(name)) {
                            headers.push((name.into(), "application/json".into()));
                        }
                    }
                })
            },
        )
        .under(REQUEST)
    },
    Row {
        excludes: &["form", "method"],
        ..Row::value(
            "grpc",
            "SERVICE/METHOD",
            "Call this method by gRPC (package.Service/Method), with --json as the message; \
             descriptors come from --proto, --descriptor-set, or the server by reflection",
            |w, _| set(values::grpc_method(w), |s: &mut S, v| s.request.grpc.method = Some(v)),
        )
        .under(REQUEST)
        .keys(&[SettingKey::new("script.request.grpc", ValueForm::Value)
            .about("Call this method by gRPC: `package.Service/Method`, with json as its message")])
    },
    Row::repeated("proto", "FILE", "gRPC: a file that defines the service (.proto)", |w, _| {
        set(Ok::<_, WordError>(w.into()), |s: &mut S, v| s.request.grpc.protos.push(v))
    })
    .under(REQUEST)
    .content(ArgumentContent::Path)
    .keys(&[SettingKey::new("script.request.proto", ValueForm::File).default("server reflection")]),
    Row {
        needs: Some("proto"),
        ..Row::repeated("proto-path", "DIR", "gRPC: a folder of files that --proto imports", |w, _| {
            set(Ok::<_, WordError>(w.into()), |s: &mut S, v| s.request.grpc.proto_paths.push(v))
        })
        .under(REQUEST)
        .content(ArgumentContent::Path)
        .keys(&[SettingKey::new("script.request.proto_path", ValueForm::File)])
    },
    Row {
        excludes: &["proto"],
        ..Row::value(
            "descriptor-set",
            "FILE",
            "gRPC: a file with the descriptors of the service, as protoc --descriptor_set_out writes it",
            |w, _| set(Ok::<_, WordError>(w.into()), |s: &mut S, v| s.request.grpc.descriptor_set = Some(v)),
        )
        .under(REQUEST)
        .content(ArgumentContent::Path)
        .keys(&[SettingKey::new("script.request.descriptor_set", ValueForm::File)])
    },
    Row {
        excludes: &["json", "data", "form"],
        ..Row::value(
            "binary-file",
            "FILE",
            "gRPC: a file with the encoded message (- is standard input); of a stream, several messages, each after its \
             length as a varint",
            |w, _| set(values::binary_file(w), |s: &mut S, v| s.request.grpc.binary = Some(v)),
        )
        .under(REQUEST)
        .content(ArgumentContent::Path)
        .keys(&[SettingKey::new("script.request.binary_file", ValueForm::File)])
    },
    Row::value(
        "message-interval",
        "TIME|reply",
        "gRPC: send the messages of a stream one every TIME, or each when the reply to the one before has come",
        |w, _| set(values::message_interval(w), |s: &mut S, v| s.request.grpc.stream.interval = Some(v)),
    )
    .under(REQUEST)
    .suggestions(|| named::of_list(&[("reply", "after the reply to the one before")]))
    // ghz's name, as for the two after it.
    .aliases(&["stream-interval"])
    .keys(&[SettingKey::new("script.request.message_interval", ValueForm::Value)
        .about(
            "gRPC: send the messages of a stream at this interval, or each after \
 the reply to the one before: `reply`",
        )
        .default("all at once")]),
    Row::value(
        "message-count",
        "N",
        "gRPC: number of messages that each stream sends, the first again after the last",
        |w, _| set(values::message_count(w), |s: &mut S, v| s.request.grpc.stream.count = Some(v)),
    )
    .under(REQUEST)
    .aliases(&["stream-call-count"])
    .keys(&[SettingKey::new("script.request.message_count", ValueForm::Value).default("each message once")]),
    Row::value(
        "stream-duration",
        "TIME",
        "gRPC: send messages for this time, the first again after the last, then close the stream; end a stream of the \
         server after this time",
        |w, _| set(values::stream_duration(w), |s: &mut S, v| s.request.grpc.stream.duration = Some(v)),
    )
    .under(REQUEST)
    .aliases(&["stream-call-duration"])
    .keys(&[SettingKey::new("script.request.stream_duration", ValueForm::Value).default("no limit")]),
    Row::repeated("form", "NAME=VALUE", "Body: a field of a form, encoded", |w, env| {
        set(secrets::field(w, env), |s: &mut S, v| s.request.form.push(v))
    })
    .under(REQUEST)
    .keys(&[SettingKey::new("script.request.form", ValueForm::Pairs("=")).about("Body: fields of a form, by name, encoded")]),
    Row::repeated("cookie", "NAME=VALUE|@FILE", "A cookie, or those of FILE", |w, env| {
        set(secrets::cookie(w, env), |s: &mut S, v| s.request.cookies.push(v))
    })
    .under(REQUEST)
    // curl's name.
    .aliases(&["b"]),
    Row {
        excludes: &["bearer"],
        ..Row::value(
            "basic",
            "USER:PASS|@FILE",
            "Name and password, or the content of FILE; sent with every request",
            |w, env| set(secrets::basic(w, env), |s: &mut S, v| s.request.basic = Some(v)),
        )
        .under(REQUEST)
        // curl's names.
        .aliases(&["u", "user"])
    },
    Row::value("bearer", "TOKEN|@FILE", "Bearer token, or the content of FILE; sent with every request", |w, env| {
        set(secrets::bearer(w, env), |s: &mut S, v| s.request.bearer = Some(v))
    })
    .under(REQUEST),
    Row::value("user-agent", "TEXT", "User-Agent header", |w, _| {
        set(values::text(w), |s: &mut S, v| s.request.user_agent = Some(v))
    })
    .under(REQUEST)
    .short('A')
    .otherwise(defaults::USER_AGENT),
    Row::switch("compressed", "Ask for compressed replies (gzip, deflate)", |_, _| {
        Ok(on(|s: &mut S| s.request.compressed = true))
    })
    .under(REQUEST),
    Row::value(
        "urls",
        "FILE",
        "URLs, one a line; also `URL POST data`, `[3] URL` for a weight, /path at the server of URL",
        |w, _| set(Ok::<_, WordError>(w.into()), |s: &mut S, v| s.request.urls = Some(v)),
    )
    .under(REQUEST)
    .content(ArgumentContent::Path)
    .keys(&[SettingKey::new("script.urls", ValueForm::File)]),
    Row {
        needs: Some("urls"),
        ..Row::value("order", "ORDER", "Order of the URLs of --urls", |w, _| {
            set(order(w).ok_or_else(|| WordError::new(w, "unknown order", ORDER_WORDS.join(", "))), |s: &mut S, v| {
                s.request.order = Some(v);
            })
        })
        .under(REQUEST)
        .content(ArgumentContent::Choice(&ORDER_WORDS))
        .default(defaults::ORDER)
        .keys(&[SettingKey::new("script.order", ValueForm::Value).about("Order of several requests")])
    },
    Row::value("follow", "N", "Maximum number of redirects to follow for one request", |w, _| {
        set(whole(w, 0, u64::from(u32::MAX)), |s: &mut S, v| s.replies.redirects.most = v)
    })
    .under(REQUEST)
    .default(defaults::FOLLOW)
    .keys(&[SettingKey::new("script.follow", ValueForm::Value)]),
    Row::value(
        "reply-events",
        "FORMAT",
        "Time each event of a reply: sse, lines, or messages (WebSocket, \
         gRPC); sse,20,10s ends it after 20, or 10 s",
        |w, _| set(events::parse(w), |s: &mut S, v| s.replies.events = Some(v)),
    )
    .under(REQUEST)
    .suggestions(events::suggestions)
    .keys(&[SettingKey::new("script.reply_events", ValueForm::Value)]),
    Row {
        excludes: &["follow"],
        ..Row::switch("location", "Follows redirects, as curl's -L", |_, _| {
            Ok(on(|s: &mut S| s.replies.redirects.most = LOCATION))
        })
        .under(REQUEST)
        .aliases(&["L"])
        .unlisted()
    },
    Row {
        excludes: &["method", "data", "form", "json"],
        ..Row::switch("head", "Asks for headers alone, as curl's -I", |_, _| {
            Ok(on(|s: &mut S| s.request.method = Some("HEAD".into())))
        })
        .under(REQUEST)
        .aliases(&["I"])
        .unlisted()
    },
];
