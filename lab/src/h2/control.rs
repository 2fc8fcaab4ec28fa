//! What concerns a whole connection: settings, windows, resets and pings.

use super::frame::{self, Code, Head, LARGEST_FRAME, LARGEST_WINDOW, flag, kind, setting};
use super::session::{Announced, Fatal, Session, USUAL_WINDOW};

impl Session {
    /// Announces the second window size, if there is one.
    pub(super) fn change_window(&mut self) {
        let Some(window) = self.options.window_then.take() else { return };
        frame::put_settings(&mut self.out.bytes, &[(setting::INITIAL_WINDOW_SIZE, window)]);
        self.announced.push_back(Announced { window: Some(window), table: None });
        self.target = i64::from(window);
    }

    /// Lets the client send more on a stream once half of the window is used.
    pub(super) fn grant(&mut self, id: u32, ended: bool) {
        let target = self.target;
        let Some(stream) = self.stream(id).filter(|_| !ended) else { return };
        let used = target - stream.credit;
        if used > 0 && used >= target / 2 {
            stream.credit = target;
            frame::put_window_update(&mut self.out.bytes, id, used as u32);
        }
    }

    pub(super) fn grant_connection(&mut self) {
        let target = i64::from(self.options.window).max(USUAL_WINDOW);
        let used = target - self.credit;
        if used >= target / 2 {
            self.credit = target;
            frame::put_window_update(&mut self.out.bytes, 0, used as u32);
        }
    }

    pub(super) fn on_settings(&mut self, head: Head, payload: &[u8]) -> Result<(), Fatal> {
        if head.stream != 0 {
            return Err((Code::ProtocolError, "SETTINGS on a stream"));
        }
        if head.has(flag::ACK) {
            if !payload.is_empty() {
                return Err((Code::FrameSizeError, "an acknowledgement of SETTINGS with a payload"));
            }
            self.on_acknowledged();
            return Ok(());
        }
        if !payload.len().is_multiple_of(6) {
            return Err((Code::FrameSizeError, "SETTINGS whose length is no multiple of 6"));
        }
        self.greeted = true;
        self.apply(payload)?;
        if !self.greets_otherwise() {
            frame::put(&mut self.out.bytes, kind::SETTINGS, flag::ACK, 0, &[]);
        }
        Ok(())
    }

    /// The client keeps to settings of ours from now on.
    fn on_acknowledged(&mut self) {
        let Some(announced) = self.announced.pop_front() else { return };
        if let Some(table) = announced.table {
            self.decoder.permit(table);
        }
        if let Some(window) = announced.window {
            let change = i64::from(window) - self.acknowledged;
            self.acknowledged += change;
            self.streams.iter_mut().for_each(|stream| stream.credit += change);
            // A smaller window may leave nothing to send, so that no DATA would come after which to grant more.
            let open: Vec<u32> = self.streams.iter().filter(|one| !one.complete).map(|one| one.id).collect();
            for id in open {
                self.grant(id, false);
            }
        }
    }

    /// Takes in the client's settings.
    ///
    /// # Errors
    ///
    /// Which rule they break.
    pub fn apply(&mut self, payload: &[u8]) -> Result<(), Fatal> {
        for (id, value) in frame::settings(payload) {
            match id {
                setting::ENABLE_PUSH if value > 1 => return Err((Code::ProtocolError, "SETTINGS_ENABLE_PUSH above 1")),
                setting::MAX_FRAME_SIZE if !(LARGEST_FRAME as u32..1 << 24).contains(&value) => {
                    return Err((Code::ProtocolError, "SETTINGS_MAX_FRAME_SIZE out of its range"));
                }
                // Larger frames would only delay other streams.
                setting::INITIAL_WINDOW_SIZE => self.change_peer_window(i64::from(value))?,
                _ => {}
            }
        }
        Ok(())
    }

    fn change_peer_window(&mut self, window: i64) -> Result<(), Fatal> {
        let change = window - self.peer_window;
        self.peer_window = window;
        self.streams.iter_mut().for_each(|stream| stream.window += change);
        let overflows = self.streams.iter().any(|stream| stream.window > LARGEST_WINDOW);
        if window > LARGEST_WINDOW || overflows {
            return Err((Code::FlowControlError, "SETTINGS_INITIAL_WINDOW_SIZE above 2^31-1"));
        }
        (0..self.streams.len()).for_each(|place| self.enqueue(place));
        Ok(())
    }

    pub(super) fn on_window_update(&mut self, head: Head, payload: &[u8]) -> Result<(), Fatal> {
        if payload.len() != 4 {
            return Err((Code::FrameSizeError, "WINDOW_UPDATE whose length is not 4"));
        }
        let increment = i64::from(frame::word(payload) & (u32::MAX >> 1));
        if head.stream == 0 {
            self.window += increment;
            return match increment {
                0 => Err((Code::ProtocolError, "WINDOW_UPDATE of 0")),
                _ if self.window > LARGEST_WINDOW => Err((Code::FlowControlError, "a window above 2^31-1")),
                _ => Ok(()),
            };
        }
        if head.stream > self.highest {
            return Err((Code::ProtocolError, "WINDOW_UPDATE on an idle stream"));
        }
        let Some(place) = self.place(head.stream) else { return Ok(()) };
        self.streams[place].window += increment;
        match increment {
            0 => self.reject(head.stream, Code::ProtocolError, "WINDOW_UPDATE of 0"),
            _ if self.streams[place].window > LARGEST_WINDOW => {
                self.reject(head.stream, Code::FlowControlError, "a window above 2^31-1");
            }
            _ => self.enqueue(place),
        }
        Ok(())
    }

    pub(super) fn on_reset(&mut self, head: Head, payload: &[u8]) -> Result<(), Fatal> {
        if payload.len() != 4 {
            return Err((Code::FrameSizeError, "RST_STREAM whose length is not 4"));
        }
        if head.stream == 0 || head.stream > self.highest {
            return Err((Code::ProtocolError, "RST_STREAM on a stream that is not open"));
        }
        if let Some(place) = self.place(head.stream) {
            self.streams.remove(place);
            self.counts.cancelled += 1;
        }
        self.dangling.retain(|id| *id != head.stream);
        Ok(())
    }

    pub(super) fn on_ping(&mut self, head: Head, payload: &[u8]) -> Result<(), Fatal> {
        if payload.len() != 8 {
            return Err((Code::FrameSizeError, "PING whose length is not 8"));
        }
        if head.stream != 0 {
            return Err((Code::ProtocolError, "PING on a stream"));
        }
        if !head.has(flag::ACK) {
            frame::put(&mut self.out.bytes, kind::PING, flag::ACK, 0, payload);
        }
        Ok(())
    }
}
