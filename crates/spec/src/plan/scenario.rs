//! What may stand below `scenario` in a plan file: its keys, their kinds, and what each means. `checks`: conditions of replies.

mod checks;

pub use checks::{StepCheck, Until};

use super::words::{Longer, Read, Scalar, ScalarList, Time};
use brunt_model::reply_policy::Events;
use brunt_model::scenario::{DataEnd, PaceOf, RowOrder, Sharing};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// What each user does in an iteration, step by step.
///
/// In its texts `${name}` is a variable of the user, and `${name(…)}` a function such as `${random(1,9)}`; `\${` is a plain `${`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// The server of relative URLs, such as `http://127.0.0.1:8080`.
    pub base: Option<Scalar>,
    /// Variables that each user begins with, by name; the same for all users.
    #[schemars(with = "BTreeMap<String, Scalar>")]
    pub variables: Option<IgnoredAny>,
    /// Files whose rows set variables, one row an iteration: a file, or a map.
    #[schemars(with = "Vec<super::words::ScalarOr<DataFile>>")]
    pub data: Option<IgnoredAny>,
    /// Header fields of all requests, by name.
    #[schemars(with = "BTreeMap<String, Scalar>")]
    pub headers: Option<IgnoredAny>,
    /// Whether each user keeps the cookies that replies set (RFC 6265); `iteration`: until its iteration is over. Default: true.
    pub cookies: Option<Scalar>,
    /// Redirects followed for one request, at most. Default: 10.
    pub follow: Option<u32>,
    /// `true`: what was got before is asked for only if it has changed (`ETag`, `Last-Modified`), and not at all while it is fresh
    /// (`Cache-Control`, `Expires`); `revalidate`: also while it is fresh. Default: false.
    pub cache: Option<Scalar>,
    /// What is over where a request failed. Default: nothing.
    pub on_failure: Option<OnFailure>,
    /// gRPC: files that define the services of steps (`.proto`). Default: the server of `base` is asked (reflection).
    pub proto: Option<ScalarList>,
    /// gRPC: folders of files that `proto` imports.
    pub proto_path: Option<ScalarList>,
    /// gRPC: a file with the descriptors of the services.
    pub descriptor_set: Option<Scalar>,
    /// The language of all scripts of the scenario. Default: Groovy.
    pub language: Option<Language>,
    /// The steps of an iteration, in order.
    #[schemars(with = "Vec<Step>")]
    pub steps: Option<IgnoredAny>,
}

/// Steps before or behind the load: a list, or a map.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "for the JSON Schema")]
pub enum Stage {
    /// Steps, in order.
    Steps(Vec<Step>),
    /// With more to it.
    Map(StageKeys),
}

/// Steps before or behind the load, and who carries them out. `base`, `cookies`, `follow`, `language` and the files of gRPC are those
/// of `scenario` where it says nothing. A failure ends it, unless `on_failure` says otherwise.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "for the JSON Schema")]
pub struct StageKeys {
    #[serde(flatten)]
    load: StageLoad,
    #[serde(flatten)]
    scenario: Scenario,
}

/// Who carries out the steps of a stage, and how often.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StageLoad {
    /// Users who carry out its steps at the same time. The scenario begins with the variables of the first. Default: 1.
    pub users: Option<u32>,
    /// How often each of them does. Default: 1.
    pub iterations: Option<u32>,
    /// Time limit for the whole. Default: 60s.
    pub timeout: Option<Longer>,
}

/// The language of scripts.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Groovy.
    Groovy,
    /// JavaScript (ECMAScript 2023).
    Javascript,
}

/// What is over where a request failed.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Nothing: the next step follows.
    Continue,
    /// The iteration.
    Iteration,
    /// The user: it does nothing more.
    User,
    /// The run.
    Run,
}

/// A file whose rows set variables.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DataFile {
    /// The file: CSV, or JSON lines where its name ends with `.jsonl` or `.ndjson`.
    pub file: Scalar,
    /// The variables of its columns. Default: the names in its first line.
    pub columns: Vec<Scalar>,
    /// The character between two columns; `tab` is a tab. Default: a comma.
    pub delimiter: Option<Scalar>,
    /// The encoding of the file, by a label of the WHATWG Encoding Standard such as `latin1`. Default: UTF-8.
    pub encoding: Scalar,
    /// Whose rows they are. Default: all.
    pub shared: Option<Sharing>,
    /// Which row is next. Default: sequence.
    pub order: Option<RowOrder>,
    /// What happens behind the last row. Default: again.
    pub at_end: Option<DataEnd>,
    /// Whether the first line is left out, beside `columns`. Default: false.
    pub skip_first: bool,
    /// Whether only the steps `row` take rows; otherwise each iteration begins with one. Default: false.
    pub on_demand: bool,
}

/// A step: one key says what it does, and others go with it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    /// A request with this method, to this URL.
    pub get: Option<Scalar>,
    /// A request with this method, to this URL.
    pub post: Option<Scalar>,
    /// A request with this method, to this URL.
    pub put: Option<Scalar>,
    /// A request with this method, to this URL.
    pub patch: Option<Scalar>,
    /// A request with this method, to this URL.
    pub delete: Option<Scalar>,
    /// A request with this method, to this URL.
    pub head: Option<Scalar>,
    /// A request with this method, to this URL.
    pub options: Option<Scalar>,
    /// A request with the method of `method`, to this URL.
    pub request: Option<Scalar>,
    /// Of `request`: its method, such as `PURGE`.
    pub method: Option<Scalar>,
    /// Opens the WebSocket of this URL, where it is not open.
    pub open: Option<Scalar>,
    /// Sends `data` over the WebSocket of this URL, if there is any, and awaits a message.
    pub send: Option<Scalar>,
    /// Awaits a message of the WebSocket of this URL, and sends none.
    #[serde(rename = "await")]
    pub await_: Option<Scalar>,
    /// Sends a ping over the WebSocket of this URL, and awaits its pong.
    pub ping: Option<Scalar>,
    /// Closes the WebSocket of this URL, and awaits that the server does.
    pub close: Option<Scalar>,
    /// Has the user's connection of HTTP/3 to the server of this URL go on from another local port (RFC 9000 section 9).
    pub migrate: Option<Scalar>,
    /// A call of this method of the server of `base` by gRPC: `package.Service/Method`, with `json` as its message.
    pub grpc: Option<Scalar>,
    /// Of `grpc`: send the messages of a stream at this interval, such as `100ms`, or each when the reply to the one before has
    /// come: `reply`. Default: all at once.
    pub message_interval: Option<Scalar>,
    /// Of a request: the name under which it is summed. Default: method and URL as they are written here. Of a group: its name.
    pub name: Option<Scalar>,
    /// Of a request: header fields, by name. A list of values is a field for each.
    #[schemars(with = "BTreeMap<String, super::words::ScalarList>")]
    pub headers: Option<IgnoredAny>,
    /// Of a request: parts of its query, by name, encoded.
    #[schemars(with = "BTreeMap<String, Scalar>")]
    pub query: Option<IgnoredAny>,
    /// Of a request: its body, a text, or a list of texts and files that are sent one after the other.
    #[schemars(with = "BodyData")]
    pub data: Option<IgnoredAny>,
    /// Of a request: its body, the content of a file.
    pub file: Option<Scalar>,
    /// Of a request: its body, sent as JSON.
    #[schemars(with = "serde_json::Value")]
    pub json: Option<IgnoredAny>,
    /// Of a request: its body, the fields of a form, encoded.
    #[schemars(with = "BTreeMap<String, Scalar>")]
    pub form: Option<IgnoredAny>,
    /// Of a request: its body, the parts of `multipart/form-data`: name and text, or a map for a file; or a list of maps, each
    /// with `name`.
    #[schemars(with = "Parts")]
    pub multipart: Option<IgnoredAny>,
    /// Of a request: name and password, `name:password`, sent with it (Basic).
    pub basic: Option<Scalar>,
    /// Of a request: a token, sent with it.
    pub bearer: Option<Scalar>,
    /// Of a request: name and password, `name:password`, for a server that asks for them (Digest).
    pub digest: Option<Scalar>,
    /// Of a request: redirects followed, at most. Default: that of the scenario.
    pub follow: Option<u32>,
    /// Of a request: whether images, style sheets and scripts of a page of HTML are asked for, too. Default: false.
    pub resources: Option<bool>,
    /// Of a request: its reply comes in events, each of which is timed: `sse`, `lines` or `messages`, then how many at most and for
    /// how long, such as `sse,20,10s`.
    pub reply_events: Option<Read<Events>>,
    /// Of `send` and `await`: the message that is awaited, a text that it contains or a map; other messages are passed over.
    #[schemars(with = "super::words::ScalarOr<Until>")]
    pub until: Option<IgnoredAny>,
    /// Of a request: variables that its reply sets, by name: a `JSONPath`, or a map.
    #[schemars(with = "BTreeMap<String, super::words::ScalarOr<Extract>>")]
    pub extract: Option<IgnoredAny>,
    /// Of a request: a script that is run behind `extract`, or several in order; `prev` is the reply.
    pub after: Option<ScalarList>,
    /// Of a request: what a good reply is.
    pub check: Option<StepCheck>,
    /// Of a request: what is over where it failed.
    pub on_failure: Option<OnFailure>,
    /// Of a request: the time limit for it.
    pub timeout: Option<Time>,

    /// A pause: `1s`, `1s..3s`, or `normal 1s 200ms`, `exponential 2s`.
    pub think: Option<Scalar>,
    /// A pause that keeps users to a rate, such as `10/s` or `600/min`; a number alone, or a text with `${…}`, is a minute's.
    pub pace: Option<Scalar>,
    /// Of `pace`: whose rate it is. Default: each user's.
    pub by: Option<PaceOf>,
    /// Variables that count, by name.
    #[schemars(with = "BTreeMap<String, Counter>")]
    pub count: Option<IgnoredAny>,
    /// Steps that are timed together, under this name.
    pub transaction: Option<Scalar>,
    /// Of a transaction: whether pauses count. Default: false.
    pub with_pauses: Option<bool>,
    /// Steps that belong together.
    #[schemars(with = "Vec<Step>")]
    pub group: Option<IgnoredAny>,
    /// Steps that are repeated: how often, or `forever`.
    #[serde(rename = "loop")]
    pub loop_: Option<Scalar>,
    /// Steps that are repeated as long as a condition holds.
    #[serde(rename = "while")]
    #[schemars(with = "Condition")]
    pub while_: Option<IgnoredAny>,
    /// Steps that are repeated for this time; the request under way then is the last.
    pub during: Option<Scalar>,
    /// Steps, once for each value: a variable and its values.
    #[schemars(with = "BTreeMap<String, ScalarList>")]
    pub for_each: Option<IgnoredAny>,
    /// Steps that are carried out where a condition holds.
    #[serde(rename = "if")]
    #[schemars(with = "Condition")]
    pub if_: Option<IgnoredAny>,
    /// Of `if`: the steps where it does not hold.
    #[serde(rename = "else")]
    #[schemars(with = "Vec<Step>")]
    pub else_: Option<IgnoredAny>,
    /// A text, by which one of `cases` is carried out.
    pub switch: Option<Scalar>,
    /// Of `switch`: steps by text, `default` where no other is taken; or a list of maps with `names` and `steps`.
    #[schemars(with = "serde_json::Value")]
    pub cases: Option<IgnoredAny>,
    /// One of several lists of steps, by weight: each a map with `steps` and `weight` (default: 1).
    #[schemars(with = "Vec<Branch>")]
    pub choose: Option<IgnoredAny>,
    /// Of `choose`: which is next. Default: random.
    pub order: Option<ChoiceOrder>,
    /// Of `choose`: how much of it is carried out. Default: whole.
    pub portion: Option<Portion>,
    /// Steps within a branch of turns that go on, the next time, behind where the last turn ended.
    #[schemars(with = "Vec<Step>")]
    pub resumable: Option<IgnoredAny>,
    /// Lists of steps that are all carried out, in random order.
    #[schemars(with = "Vec<Vec<Step>>")]
    pub shuffle: Option<IgnoredAny>,
    /// Requests that are made at the same time: so many at once.
    pub parallel: Option<Scalar>,
    /// Steps that only one user of the run at a time carries out: the name of the lock.
    pub lock: Option<Scalar>,
    /// Waits until so many users of the population are here; 0: all.
    pub meet: Option<Scalar>,
    /// Steps of each user's first iteration only.
    #[schemars(with = "Vec<Step>")]
    pub once: Option<IgnoredAny>,
    /// What is over.
    pub stop: Option<Stop>,
    /// Variables that get texts, by name.
    #[schemars(with = "BTreeMap<String, Scalar>")]
    pub set: Option<IgnoredAny>,
    /// The next row of a data file is taken here, too: its file.
    pub row: Option<Scalar>,
    /// A script in Groovy: `vars` are the user's variables.
    pub script: Option<Scalar>,
    /// Of transaction, loop, while, during, `for_each`, if, parallel and lock: their steps.
    #[schemars(with = "Vec<Step>")]
    pub steps: Option<IgnoredAny>,
}

/// One of the cases of a switch.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Case {
    /// The texts that take it; none: it is taken where no other is.
    pub names: Vec<Scalar>,
    /// Its steps.
    #[schemars(with = "Vec<Step>")]
    pub steps: Option<IgnoredAny>,
}

/// A variable that counts.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Counter {
    /// The first number. Default: 0.
    pub start: Scalar,
    /// How much is added each time. Default: 1.
    pub step: Scalar,
    /// The greatest number, behind which it begins again. Default: there is none.
    pub end: Scalar,
    /// How it is written, as Java's `DecimalFormat` has it, such as `000`.
    pub format: Scalar,
    /// Whether each user counts for itself. Default: false.
    pub per_user: bool,
    /// Whether it begins again with each iteration, where each user counts for itself. Default: false.
    pub resets: bool,
}

/// A part of `multipart/form-data`: `value`, or `file`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FormPart {
    /// Its name, in a list of parts.
    pub name: Option<Scalar>,
    /// A text.
    pub value: Option<Scalar>,
    /// A file.
    pub file: Option<Scalar>,
    /// Of a file: the name that is sent; empty: none, so that the content is sent as a text. Default: that of the file.
    pub filename: Option<Scalar>,
    /// Its media type. Default: that of a file by the end of its name; a text has none.
    #[serde(rename = "type")]
    pub kind: Option<Scalar>,
}

/// The parts of `multipart/form-data`, by name or as a list.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema is used")]
pub enum Parts {
    /// By name.
    Map(BTreeMap<String, super::words::ScalarOr<FormPart>>),
    /// A list.
    List(Vec<FormPart>),
}

/// A file as a piece of a body.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FilePiece {
    /// The file.
    pub file: Scalar,
    /// Whether line breaks are sent; `false` leaves out CR, LF and NUL, as curl's `-d @FILE` does. Default: true.
    pub line_breaks: Option<bool>,
    /// Whether the content is percent-encoded, with `+` for a space. Default: false.
    pub encode: Option<bool>,
}

/// A body: a text, or a list of texts and files.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema is used")]
pub enum BodyData {
    /// A text.
    Text(Scalar),
    /// A list.
    List(Vec<super::words::ScalarOr<FilePiece>>),
}

/// What is looked for in a reply: one of `json`, `jmespath`, `regex`, `between`, `css`, `xpath`, `header` and `cookie`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Extract {
    /// A `JSONPath` (RFC 9535) in the body.
    pub json: Option<Scalar>,
    /// A `JMESPath` in a JSON body.
    pub jmespath: Option<Scalar>,
    /// A regular expression in the body.
    pub regex: Option<Scalar>,
    /// What stands between two texts in the body.
    pub between: Option<[Scalar; 2]>,
    /// A CSS selector in an HTML body; `attribute` is what is taken of the element.
    pub css: Option<Scalar>,
    /// Of a CSS selector: the attribute whose value is taken. Default: the text of the element.
    pub attribute: Option<Scalar>,
    /// An `XPath` (1.0) in a body of XML or HTML.
    pub xpath: Option<Scalar>,
    /// A header field.
    pub header: Option<Scalar>,
    /// A cookie that the reply sets.
    pub cookie: Option<Scalar>,
    /// Of a regular expression: the group that is taken. Default: 1 where there is one, else the whole match.
    pub group: Option<u32>,
    /// Of a regular expression: what is made of the groups of a match, such as `$1$-$2$`.
    pub template: Option<Scalar>,
    /// What is searched. Default: the body.
    #[serde(rename = "in")]
    pub part: Option<Part>,
    /// Which of several matches is taken: `first`, `last`, `random`, `all` or a number from 1. Default: first.
    pub take: Option<Scalar>,
    /// The value where there is no match. Default: the variable keeps its value.
    pub default: Option<Scalar>,
}

/// A part of a reply, or of its request.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The body.
    Body,
    /// The body without the escapes of HTML.
    UnescapedBody,
    /// The status line and the header fields.
    Headers,
    /// The status.
    Status,
    /// The phrase behind the status.
    Message,
    /// The URL that it came from.
    Url,
    /// The header fields of the request.
    RequestHeaders,
}

/// A condition: `failed`, `succeeded`, or a map with one key.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Condition {
    /// The status of the last reply is one of these, such as `200,3xx`.
    pub status: Option<ScalarList>,
    /// Two texts are the same.
    pub equal: Option<[Scalar; 2]>,
    /// A text matches a regular expression.
    pub matches: Option<[Scalar; 2]>,
    /// The text is `true`.
    #[serde(rename = "true")]
    pub is_true: Option<Scalar>,
    /// The last request failed.
    pub failed: Option<bool>,
    /// Another condition does not hold.
    #[schemars(with = "Box<Condition>")]
    pub not: Option<IgnoredAny>,
}

/// One of several lists of steps.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Branch {
    /// How often it is taken, against the others. Default: 1.
    pub weight: Option<u32>,
    /// Its steps.
    #[schemars(with = "Vec<Step>")]
    pub steps: Option<IgnoredAny>,
}

/// Which of several lists of steps is next.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceOrder {
    /// Any, by weight.
    Random,
    /// One after the other, all users together.
    Sequence,
    /// One after the other, each user by itself.
    WalkTogether,
    /// Always the same for one user: the first user has the first, and so on round.
    User,
}

/// How much of the branch of a choice is carried out.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Portion {
    /// All its steps.
    Whole,
    /// The same; where they make no request, no sample and no pause, those of the next branch.
    Nonempty,
    /// One turn: its steps up to `stop: turn`.
    Turn,
}

/// What is over.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The turn of a choice with `portion: turn`.
    Turn,
    /// This round of the innermost loop.
    Round,
    /// The innermost loop.
    Loop,
    /// The iteration.
    Iteration,
    /// The user.
    User,
    /// The run.
    Run,
}
