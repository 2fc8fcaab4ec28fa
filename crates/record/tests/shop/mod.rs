//! A shop with 12 dynamic values, each in another kind of place. It refuses requests with a wrong value.
//!
//! Decoys: a constant code, the time of the server, a counter of visits, a cookie, times and UUIDs of the browser.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rand::RngExt;
use sha1::{Digest, Sha1};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Names of the dynamic values.
pub const PLANTED: [&str; 12] = [
    "csrf", "sid", "auth", "key", "product", "offer", "cart", "basket", "guid", "state", "order",
    "ticket",
];

/// The shop of one visitor.
#[derive(Default)]
struct Visit {
    values: BTreeMap<&'static str, String>,
    refused: Vec<String>,
    visits: u64,
    accepted: Vec<&'static str>,
}

/// A running server. Its threads end with the process of the test.
pub struct Shop {
    pub url: String,
    state: Arc<Mutex<Visit>>,
}

struct ShopRequest {
    method: String,
    path: String,
    query: HashMap<String, String>,
    headers: HashMap<String, String>,
    body: String,
}

struct ShopReply {
    status: u16,
    fields: Vec<(&'static str, String)>,
    body: String,
}

impl Shop {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(Visit::default()));
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                thread::spawn(move || serve(stream, &state));
            }
        });
        Self { url, state }
    }

    /// Draws new values for the next visitor.
    pub fn renew(&self) {
        let mut state = self.state.lock().unwrap();
        let mut random = rand::rng();
        let mut text = |length: usize| -> String {
            let letters = b"abcdefghijkmnpqrstuvwxyz23456789";
            (0..length).map(|_| letters[random.random_range(0..letters.len())] as char).collect()
        };
        let values = [
            ("csrf", text(24)),
            ("sid", text(16)),
            ("auth", format!("{}.{}-{}", text(12), text(6), text(9))),
            ("key", text(20)),
            ("product", format!("p-{}", text(6))),
            ("offer", text(10).to_uppercase()),
            ("basket", format!("BSK{}", text(8))),
            ("guid", format!("{}-{}-{}-{}-{}", text(8), text(4), text(4), text(4), text(12))),
            ("state", format!("{}&\"{}\"=<{}>", text(6), text(4), text(5))),
            ("ticket", text(18)),
        ];
        state.values = values.into();
        let number = rand::rng().random_range(100_000..999_999_u64);
        state.values.insert("cart", number.to_string());
        state.values.insert("order", (number / 7 + 10_000).to_string());
        state.refused.clear();
        state.accepted.clear();
        state.visits += 1;
    }

    /// The values of the current visitor.
    pub fn values(&self) -> BTreeMap<&'static str, String> {
        self.state.lock().unwrap().values.clone()
    }

    /// Requests with wrong values, and values that arrived.
    pub fn outcome(&self) -> (Vec<String>, Vec<&'static str>) {
        let state = self.state.lock().unwrap();
        (state.refused.clone(), state.accepted.clone())
    }
}

fn serve(stream: TcpStream, state: &Mutex<Visit>) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        if let Some(key) = request.headers.get("sec-websocket-key") {
            return serve_socket(key, &mut reader, &mut writer, state);
        }
        let reply = state.lock().unwrap().reply(&request);
        let mut head = format!(
            "HTTP/1.1 {} X\r\nContent-Length: {}\r\nCache-Control: no-store\r\n",
            reply.status,
            reply.body.len()
        );
        for (name, value) in &reply.fields {
            head.extend([*name, ": ", value, "\r\n"]);
        }
        let text = format!("{head}\r\n{}", reply.body);
        if writer.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<ShopRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    Some(ShopRequest {
        method,
        path: path.to_owned(),
        query: fields(query),
        headers,
        body: String::from_utf8(body).unwrap(),
    })
}

fn fields(text: &str) -> HashMap<String, String> {
    url::form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn html(title: &str, body: &str) -> ShopReply {
    let body = format!(
        "<!doctype html><html><head><title>{title}</title><link rel=\"icon\" href=\"data:,\">\
         <link rel=\"stylesheet\" href=\"/shop.css\"></head><body>{body}<img src=\"/logo.svg\"></body></html>"
    );
    ShopReply { status: 200, fields: vec![("Content-Type", "text/html".to_owned())], body }
}

fn json(body: String) -> ShopReply {
    ShopReply { status: 200, fields: vec![("Content-Type", "application/json".to_owned())], body }
}

impl Visit {
    /// Compares a value of a request with the planted one.
    fn check(&mut self, name: &'static str, value: Option<&str>) {
        if value == Some(self.values[name].as_str()) {
            self.accepted.push(name);
        } else {
            self.refused.push(format!("{name}: {value:?}"));
        }
    }

    fn reply(&mut self, request: &ShopRequest) -> ShopReply {
        let refused = self.refused.len();
        let reply = self.answer(request);
        if self.refused.len() > refused {
            return ShopReply { status: 403, fields: Vec::new(), body: "wrong value".to_owned() };
        }
        reply
    }

    fn answer(&mut self, request: &ShopRequest) -> ShopReply {
        let values = self.values.clone();
        let query = |name: &str| request.query.get(name).map(String::as_str);
        let form = fields(&request.body);
        let field = |name: &str| form.get(name).map(String::as_str);
        let document: serde_json::Value = serde_json::from_str(&request.body).unwrap_or_default();
        let auth = request.headers.get("x-auth-token").map(String::as_str);
        let segments: Vec<&str> = request.path.split('/').skip(1).collect();
        match (request.method.as_str(), &segments[..]) {
            ("GET", [""]) => html(
                "Welcome",
                &format!(
                    "<p>visit {}, code SUMMER-2026</p><form action=/login method=post>\
                     <input type=hidden name=\"csrf\" value=\"{}\"><input name=user value=ann>\
                     <input type=hidden name=campaign value=SUMMER-2026><button>Log in</button></form>",
                    self.visits, values["csrf"]
                ),
            ),
            ("POST", ["login"]) => {
                self.check("csrf", field("csrf"));
                ShopReply {
                    status: 302,
                    fields: vec![
                        ("Location", format!("/s/{}/catalog", values["sid"])),
                        ("Set-Cookie", format!("session={}; Path=/", values["key"])),
                    ],
                    body: String::new(),
                }
            }
            ("GET", ["s", sid, "catalog"]) => {
                self.check("sid", Some(sid));
                html(
                    "Catalog",
                    &format!(
                        "<h1>Catalog</h1><script>var settings = {{currency: 'EUR', apiKey: \"{}\"}};</script>\
                         <div id=list></div><a id=cart href='/s/{sid}/cart'>Cart</a>",
                        values["key"]
                    ),
                )
            }
            ("GET", ["api", "session"]) => {
                let mut reply = json("{\"ok\":true}".to_owned());
                reply.fields.push(("X-Auth-Token", values["auth"].clone()));
                reply
            }
            ("GET", ["api", "products"]) => {
                self.check("key", query("key"));
                self.check("auth", auth);
                json(format!(
                    "{{\"products\":[{{\"id\":\"p-fixed1\",\"name\":\"Chair\",\"stock\":12}},\
                     {{\"id\":\"{}\",\"name\":\"Table\",\"stock\":12}}],\"page\":1}}",
                    values["product"]
                ))
            }
            ("GET", ["api", "products", id]) => {
                self.check("product", Some(id));
                json(format!(
                    "{{\"data\":{{\"name\":\"Table\",\"offer\":{{\"code\":\"{}\",\"sku\":\"T-100\"}}}}}}",
                    values["offer"]
                ))
            }
            ("POST", ["api", "cart"]) => {
                self.check("offer", document["code"].as_str());
                json(format!("{{\"cart\":{{\"id\":{},\"items\":1}}}}", values["cart"]))
            }
            ("POST", ["api", "cart", "items"]) => {
                self.check("cart", document["cartId"].as_u64().map(|id| id.to_string()).as_deref());
                json("{\"ok\":true}".to_owned())
            }
            ("GET", ["s", sid, "cart"]) => {
                self.check("sid", Some(sid));
                html(
                    "Cart",
                    &format!(
                        "<p>1 item</p><a id=checkout href=\"/checkout?step=1&amp;basket={}\">Check out</a>",
                        values["basket"]
                    ),
                )
            }
            ("GET", ["checkout"]) => {
                self.check("basket", query("basket"));
                html(
                    "Checkout",
                    &format!(
                        "<section class='panel' data-request-guid='{}'>Pay</section>\
                         <form action=/checkout method=post><input type=hidden name=\"state\" value=\"{}\">\
                         <button>Order</button></form>",
                        values["guid"],
                        escaped(&values["state"])
                    ),
                )
            }
            ("POST", ["api", "quote"]) => {
                self.check("guid", document["request"]["guid"].as_str());
                json("{\"total\":12.5}".to_owned())
            }
            ("POST", ["checkout"]) => {
                self.check("state", field("state"));
                ShopReply {
                    status: 303,
                    fields: vec![("Location", format!("/orders/{}", values["order"]))],
                    body: String::new(),
                }
            }
            ("GET", ["orders", order]) => {
                self.check("order", Some(order));
                html("Order", &format!("<h1>Order no. {order}</h1>"))
            }
            ("GET", ["api", "orders", order]) => {
                self.check("order", Some(order));
                self.check("key", query("key"));
                self.check("auth", auth);
                json("{\"status\":\"paid\"}".to_owned())
            }
            ("GET", ["windows"]) => {
                let host = request.headers["host"].replace("127.0.0.1", "localhost");
                html(
                    "Windows",
                    &format!(
                        "<iframe src=/inner></iframe><iframe src='http://{host}/other-site'></iframe>"
                    ),
                )
            }
            ("GET", ["inner" | "other-site" | "popup" | "from-worker" | "from-popup"]) => {
                html("Part", "<p>part</p>")
            }
            ("GET", ["worker.js"]) => ShopReply {
                status: 200,
                fields: vec![("Content-Type", "text/javascript".to_owned())],
                body:
                    "fetch('/from-worker').then(reply => reply.text()).then(() => postMessage(1))"
                        .to_owned(),
            },
            ("GET", ["shop.css"]) => ShopReply {
                status: 200,
                fields: vec![("Content-Type", "text/css".to_owned())],
                body: "body{color:black}".to_owned(),
            },
            ("GET", ["logo.svg"]) => ShopReply {
                status: 200,
                fields: vec![("Content-Type", "image/svg+xml".to_owned())],
                body: "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>".to_owned(),
            },
            _ => ShopReply { status: 404, fields: Vec::new(), body: "no such page".to_owned() },
        }
    }
}

/// Sends a ticket, and compares that of the answer.
fn serve_socket(
    key: &str,
    reader: &mut BufReader<TcpStream>,
    writer: &mut TcpStream,
    state: &Mutex<Visit>,
) {
    let digest = Sha1::digest(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
    let head = format!(
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n\r\n",
        STANDARD.encode(digest)
    );
    writer.write_all(head.as_bytes()).unwrap();
    let ticket = state.lock().unwrap().values["ticket"].clone();
    send_frame(writer, &format!("{{\"type\":\"welcome\",\"ticket\":\"{ticket}\"}}"));
    while let Some(text) = read_frame(reader) {
        let message: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        state.lock().unwrap().check("ticket", message["ticket"].as_str());
        send_frame(writer, "{\"type\":\"confirmed\"}");
    }
}

fn send_frame(writer: &mut TcpStream, text: &str) {
    let mut frame = vec![0x81, text.len() as u8];
    assert!(text.len() < 126);
    frame.extend(text.as_bytes());
    let _ = writer.write_all(&frame);
}

/// Reads a short text message; None for another frame.
fn read_frame(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut head = [0; 2];
    reader.read_exact(&mut head).ok()?;
    let length = usize::from(head[1] & 0x7f);
    if head[0] != 0x81 || length > 125 {
        return None;
    }
    let mut mask = [0; 4];
    reader.read_exact(&mut mask).ok()?;
    let mut payload = vec![0; length];
    reader.read_exact(&mut payload).ok()?;
    payload.iter_mut().enumerate().for_each(|(index, byte)| *byte ^= mask[index % 4]);
    String::from_utf8(payload).ok()
}
