//! The enumerations of the messages. 0 is what a field holds that nobody set, so the kinds begin with 1.

/// The same kinds, as the model has them.
mod model {
    pub use crate::event::Phase;
    pub use crate::outcome::{Failure, Malformed};
}

macro_rules! kinds {
    ($name:ident { $($kind:ident = $number:literal,)* }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
        #[repr(i32)]
        pub enum $name {
            Unspecified = 0,
            $($kind = $number,)*
        }

        impl $name {
            /// The number of a kind.
            pub fn number(kind: model::$name) -> i32 {
                match kind {
                    $(model::$name::$kind => $number,)*
                }
            }

            /// The kind of a number; None where it is not set, or a later version's.
            pub fn known(number: i32) -> Option<model::$name> {
                match number {
                    $($number => Some(model::$name::$kind),)*
                    _ => None,
                }
            }
        }
    };
}

kinds!(Phase {
    Setup = 1,
    Warmup = 2,
    Measure = 3,
    Grace = 4,
});

kinds!(Failure {
    Resolve = 1,
    Refused = 2,
    Unreachable = 3,
    ConnectTimeout = 4,
    Tls = 5,
    Proxy = 6,
    Reset = 7,
    Stale = 8,
    Timeout = 9,
    Protocol = 10,
    ClosedEarly = 11,
    Check = 12,
    FdsExhausted = 13,
    PortsExhausted = 14,
    Dropped = 15,
    Cut = 16,
    System = 17,
});

kinds!(Malformed {
    StatusLine = 1,
    HeaderField = 2,
    TooManyFields = 3,
    HeadTooLarge = 4,
    TooManyInterim = 5,
    ContentLength = 6,
    TransferEncoding = 7,
    Chunk = 8,
    ChunkLineTooLong = 9,
    TrailersTooLarge = 10,
});
