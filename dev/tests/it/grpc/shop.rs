//! Runs a gRPC server by tonic: the service `shop.Shop` with a method of each kind, and reflection.

use prost::Message;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::{
    ClientStreamingService, Grpc, ServerStreamingService, StreamingService, UnaryService,
};
use tonic::transport::Server;
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

const PROTO: &str = "syntax = \"proto3\"; package shop; message Item { string name = 1; int64 id = 2; } \
                     service Shop { rpc Buy(Item) returns (Item); rpc Fill(stream Item) returns (Item); \
                     rpc List(Item) returns (stream Item); rpc Chat(stream Item) returns (stream Item); }";

/// Time that `Chat` takes for each answer.
pub const THINKS: Duration = Duration::from_millis(20);

/// Time that slow calls take: longer than the deadlines of tests.
const SLOW: Duration = Duration::from_secs(2);

/// An error with details: a field that is wrong, and a token that no output may show.
fn wrong() -> Status {
    let violation = [field(1, b"name"), field(2, b"must not be `wrong`")].concat();
    let pair = [field(1, b"token"), field(2, b"s3cr3t-value-99")].concat();
    let info = [field(1, b"WRONG_NAME"), field(2, b"shop.example"), field(3, &pair)].concat();
    let details =
        [("BadRequest", field(1, &violation)), ("ErrorInfo", info)].map(|(name, content)| {
            let name = format!("type.googleapis.com/google.rpc.{name}");
            field(3, &[field(1, name.as_bytes()), field(2, &content)].concat())
        });
    let status = [&b"\x08\x03"[..], &details.concat()].concat();
    Status::with_details(Code::InvalidArgument, "the name is wrong", status.into())
}

/// A field of an encoded message, with bytes.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, content.len() as u8][..], content].concat()
}

/// A message of the service.
#[derive(Clone, PartialEq, Message)]
pub struct Item {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int64, tag = "2")]
    id: i64,
}

/// Counters of the server.
#[derive(Default)]
pub struct CallCounts {
    pub calls: AtomicU64,
    pub messages: AtomicU64,
    /// Messages of `Chat` that arrived before the answer to the previous one.
    pub early: AtomicU64,
    /// Times between consecutive messages of a stream.
    pub gaps: Mutex<Vec<Duration>>,
    pub deadlines: AtomicU64,
    /// Values of `:authority` of all calls, also those of reflection.
    pub authorities: Mutex<BTreeSet<String>>,
}

impl CallCounts {
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    pub fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    /// Counts a call.
    fn call<M>(&self, request: &Request<M>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let has_deadline = request.metadata().contains_key("grpc-timeout");
        self.deadlines.fetch_add(u64::from(has_deadline), Ordering::Relaxed);
    }

    fn message(&self) {
        self.messages.fetch_add(1, Ordering::Relaxed);
    }
}

type Reply<T> = BoxFuture<Response<T>, Status>;

/// A method of the shop.
struct Method(Arc<CallCounts>);

impl UnaryService<Item> for Method {
    type Response = Item;
    type Future = Reply<Item>;

    /// Returns the next number; an item named `missing` does not exist, `wrong` has error details,
    /// `slow` takes longer than the deadlines of tests, and `expired` exceeds a deadline of the server's own.
    fn call(&mut self, request: Request<Item>) -> Reply<Item> {
        self.0.call(&request);
        self.0.message();
        let Item { name, id } = request.into_inner();
        Box::pin(async move {
            match name.as_str() {
                "missing" => return Err(Status::not_found("no such item: 100 % sold")),
                "slow" => sleep(SLOW).await,
                "wrong" => return Err(wrong()),
                "expired" => return Err(Status::deadline_exceeded("the warehouse is asleep")),
                _ => {}
            }
            Ok(Response::new(Item { name: format!("{name}!"), id: id + 1 }))
        })
    }
}

impl ClientStreamingService<Item> for Method {
    type Response = Item;
    type Future = Reply<Item>;

    /// Returns the number of messages; `stop` fails at once.
    fn call(&mut self, request: Request<Streaming<Item>>) -> Reply<Item> {
        let counts = Arc::clone(&self.0);
        counts.call(&request);
        let mut items = request.into_inner();
        Box::pin(async move {
            let mut count = 0;
            let mut before = None::<Instant>;
            while let Some(item) = items.message().await? {
                counts.message();
                if let Some(before) = before.replace(Instant::now()) {
                    counts.gaps.lock().expect("a lock").push(before.elapsed());
                }
                if item.name == "stop" {
                    return Err(Status::failed_precondition("stopped"));
                }
                count += 1;
            }
            Ok(Response::new(Item { name: "filled".into(), id: count }))
        })
    }
}

type Items = ReceiverStream<Result<Item, Status>>;

impl ServerStreamingService<Item> for Method {
    type Response = Item;
    type ResponseStream = Items;
    type Future = Reply<Items>;

    /// Returns the requested number of messages; `stall` leaves the stream open after them.
    fn call(&mut self, request: Request<Item>) -> Reply<Items> {
        self.0.call(&request);
        self.0.message();
        let Item { name, id: most } = request.into_inner();
        Box::pin(async move {
            let (give, items) = tokio::sync::mpsc::channel(most.max(1) as usize);
            for id in 0..most {
                let _ = give.send(Ok(Item { name: "one".into(), id })).await;
            }
            if name == "stall" {
                tokio::spawn(async move {
                    sleep(SLOW).await;
                    drop(give);
                });
            }
            Ok(Response::new(ReceiverStream::new(items)))
        })
    }
}

impl StreamingService<Item> for Method {
    type Response = Item;
    type ResponseStream = Items;
    type Future = Reply<Items>;

    /// Answers each message after a delay; `stop` ends the stream, `silence` gets no answer.
    fn call(&mut self, request: Request<Streaming<Item>>) -> Reply<Items> {
        let counts = Arc::clone(&self.0);
        counts.call(&request);
        let mut incoming = request.into_inner();
        let (give, items) = tokio::sync::mpsc::channel(8);
        tokio::spawn(async move {
            let mut next = incoming.message().await;
            while let Ok(Some(item)) = next {
                counts.message();
                if item.name == "stop" {
                    let _ = give.send(Err(Status::aborted("stopped"))).await;
                    return;
                }
                let due = Instant::now() + THINKS;
                let early = timeout(THINKS, incoming.message()).await;
                sleep_until(due).await;
                counts
                    .early
                    .fetch_add(u64::from(matches!(early, Ok(Ok(Some(_))))), Ordering::Relaxed);
                if item.name != "silence" && give.send(Ok(item)).await.is_err() {
                    return;
                }
                next = match early {
                    Ok(next) => next,
                    Err(_) => incoming.message().await,
                };
            }
        });
        Box::pin(async move { Ok(Response::new(ReceiverStream::new(items))) })
    }
}

/// All methods, and reflection for other paths.
#[derive(Clone)]
struct Methods<R> {
    counts: Arc<CallCounts>,
    reflection: R,
}

impl<R> Service<http::Request<Body>> for Methods<R>
where
    R: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    R::Future: Send,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let Self { counts, mut reflection } = self.clone();
        Box::pin(async move {
            let path = request.uri().path().to_owned();
            let authority = request.uri().authority().map(ToString::to_string);
            counts.authorities.lock().expect("a lock").extend(authority);
            let mut grpc = Grpc::new(ProstCodec::<Item, Item>::default());
            let method = Method(counts);
            Ok(match path.as_str() {
                "/shop.Shop/Buy" => grpc.unary(method, request).await,
                "/shop.Shop/Fill" => grpc.client_streaming(method, request).await,
                "/shop.Shop/List" => grpc.server_streaming(method, request).await,
                "/shop.Shop/Chat" => grpc.streaming(method, request).await,
                path if path.starts_with("/grpc.reflection.v1.") => {
                    reflection.call(request).await?
                }
                _ => Status::unimplemented("no such method").into_http(),
            })
        })
    }
}

/// A server on loopback in a separate thread. It ends when this value is dropped.
pub struct Shop {
    pub counts: Arc<CallCounts>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    dir: TempDir,
}

impl Shop {
    pub fn open() -> Self {
        let dir = TempDir::new().expect("a directory");
        let proto = dir.path().join("shop.proto");
        fs::write(&proto, PROTO).expect("a file");
        let set = protox::compile([&proto], [dir.path()]).expect("descriptors").encode_to_vec();
        let (sender, address) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let counts = Arc::new(CallCounts::default());
        let shared = Arc::clone(&counts);
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                sender
                    .send(listener.local_addr().expect("an address"))
                    .expect("somebody who waits");
                let reflection = tonic_reflection::server::Builder::configure()
                    .register_encoded_file_descriptor_set(&set)
                    .build_v1()
                    .expect("reflection");
                let methods = Methods { counts: shared, reflection };
                let stopped = async { drop(stopped.await) };
                let serving = Server::builder().serve_with_incoming_shutdown(
                    methods,
                    TcpListenerStream::new(listener),
                    stopped,
                );
                // Open connections do not delay the test.
                let _ = serving.await;
            });
        });
        let address = address.recv().expect("an address");
        Self { counts, address, stop: Some(stop), thread: Some(thread), dir }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Writes a plan file next to the definition of the service.
    pub fn plan(&self, text: &str) -> PathBuf {
        let file = self.dir.path().join("plan.yaml");
        fs::write(&file, text).expect("a file");
        file
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
