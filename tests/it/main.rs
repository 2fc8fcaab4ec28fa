//! Everything that needs a real server, a real process or a real tool.

mod house;
