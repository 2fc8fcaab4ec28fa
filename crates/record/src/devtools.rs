//! Messages of the DevTools protocol: JSON objects, each followed by a NUL byte, over two pipes.

use crate::error::RecordError;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time limit of a command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// Number of an answered command.
pub type CommandId = u64;

/// A message of the browser.
#[derive(Debug, Clone)]
pub enum DevToolsMessage {
    /// Answer to a command: its result, or the message of an error.
    Reply {
        /// Number of the command.
        id: CommandId,
        /// Result, or the message of an error.
        result: Result<Value, String>,
    },
    /// Event of a session; an empty session is that of the browser.
    Event {
        /// Session of a page, frame or worker.
        session: String,
        /// Method, such as `Network.loadingFinished`.
        method: String,
        /// Parameters of the event.
        params: Value,
    },
}

/// A connection to the browser.
pub struct DevTools {
    writer: Box<dyn Write + Send>,
    messages: Receiver<DevToolsMessage>,
    /// Messages that arrived during a call.
    queue: VecDeque<DevToolsMessage>,
    next: CommandId,
}

impl DevTools {
    /// Reads messages from one pipe, and writes commands to the other.
    pub fn new(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Self, RecordError> {
        let (sender, messages) = channel();
        thread::Builder::new().name("brunt-devtools".to_owned()).spawn(move || {
            let mut reader = BufReader::with_capacity(1 << 16, reader);
            let mut bytes = Vec::new();
            loop {
                bytes.clear();
                let length = reader.read_until(0, &mut bytes).unwrap_or(0);
                if length == 0 {
                    return;
                }
                let text = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
                // A message that is no object belongs to no command.
                let Some(message) = serde_json::from_slice(text).ok().and_then(parse) else {
                    continue;
                };
                if sender.send(message).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { writer: Box::new(writer), messages, queue: VecDeque::new(), next: 1 })
    }

    /// Sends a command without waiting for its answer. An empty session is that of the browser.
    ///
    /// # Errors
    ///
    /// [`RecordError::Ended`] if the browser has closed its pipe.
    pub fn send(
        &mut self,
        session: &str,
        method: &str,
        params: &Value,
    ) -> Result<CommandId, RecordError> {
        let id = self.next;
        self.next += 1;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !session.is_empty() {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let written = self.writer.write_all(&bytes).and_then(|()| self.writer.flush());
        written.map_err(|error| RecordError::Ended(format!(": {error}")))?;
        Ok(id)
    }

    /// Sends a command and returns its result. Other messages are kept for [`DevTools::next_message`].
    ///
    /// # Errors
    ///
    /// The browser refused the command, ended, or did not answer within 30 s.
    pub fn call(
        &mut self,
        session: &str,
        method: &str,
        params: &Value,
    ) -> Result<Value, RecordError> {
        let command = self.send(session, method, params)?;
        loop {
            match self.messages.recv_timeout(COMMAND_TIMEOUT) {
                Ok(DevToolsMessage::Reply { id, result }) if id == command => {
                    return result.map_err(|message| RecordError::Refused {
                        method: method.to_owned(),
                        message,
                    });
                }
                Ok(other) => self.queue.push_back(other),
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = COMMAND_TIMEOUT.as_secs();
                    return Err(RecordError::Timeout { method: method.to_owned(), seconds });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(RecordError::Ended(format!(" during {method}")));
                }
            }
        }
    }

    /// Returns the next message; None if none arrives within this time.
    ///
    /// # Errors
    ///
    /// [`RecordError::Ended`] if the browser has closed its pipe.
    pub fn next_message(
        &mut self,
        timeout: Duration,
    ) -> Result<Option<DevToolsMessage>, RecordError> {
        // Messages keep their order: those of the queue arrived first.
        if let Some(message) = self.queue.pop_front() {
            return Ok(Some(message));
        }
        match self.messages.recv_timeout(timeout) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(RecordError::Ended(String::new())),
        }
    }
}

fn parse(mut message: Value) -> Option<DevToolsMessage> {
    if let Some(id) = message["id"].as_u64() {
        let error = message["error"]["message"].as_str().map(str::to_owned);
        let result = match error {
            Some(error) => Err(error),
            None => Ok(message["result"].take()),
        };
        return Some(DevToolsMessage::Reply { id, result });
    }
    let method = message["method"].as_str()?.to_owned();
    let session = message["sessionId"].as_str().unwrap_or_default().to_owned();
    Some(DevToolsMessage::Event { session, method, params: message["params"].take() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_split_at_nul_bytes() {
        let text = b"{\"id\":1,\"result\":{\"a\":2}}\0bad\0{\"method\":\"A.b\",\"sessionId\":\"S\",\"params\":{}}\0";
        let mut devtools = DevTools::new(&text[..], std::io::sink()).unwrap();
        assert_eq!(devtools.call("", "Browser.getVersion", &json!({})).unwrap()["a"], 2);
        let event = devtools.next_message(Duration::from_secs(5)).unwrap();
        let Some(DevToolsMessage::Event { session, method, .. }) = event else {
            panic!("{event:?}")
        };
        assert_eq!((session.as_str(), method.as_str()), ("S", "A.b"));
        assert!(devtools.next_message(Duration::from_secs(5)).is_err());
    }

    #[test]
    fn refused_commands_are_errors() {
        let text = b"{\"id\":1,\"error\":{\"code\":-32601,\"message\":\"not found\"}}\0";
        let mut devtools = DevTools::new(&text[..], std::io::sink()).unwrap();
        let error = devtools.call("", "No.such", &json!({})).unwrap_err();
        assert_eq!(error.to_string(), "the browser refused No.such: not found");
    }
}
