//! Enumerations of the messages. Numbers begin with 1, since 0 stands for a missing value.

/// The corresponding types of the model.
mod model {
    pub use crate::outcome::{Failure, MalformedReply};
}

macro_rules! kinds {
    ($name:ident { $($kind:ident = $number:literal,)* }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
        // prost represents enumerations of protobuf as i32.
        #[repr(i32)]
        pub enum $name {
            // proto3 requires 0 as the first value; it is the default of a missing field.
            Unspecified = 0,
            $($kind = $number,)*
        }

        impl $name {
            /// Returns the number of a kind.
            pub fn number(kind: model::$name) -> i32 {
                // Without a wildcard, a new kind that has no number does not compile.
                match kind {
                    $(model::$name::$kind => $number,)*
                }
            }

            /// Returns the kind of a number; None for 0 and for kinds of later versions.
            pub fn from_number(number: i32) -> Option<model::$name> {
                match number {
                    $($number => Some(model::$name::$kind),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use kinds;

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
    StreamReset = 18,
    Unprocessed = 19,
    NotAllowed = 20,
    DeadlineExceeded = 21,
});

kinds!(MalformedReply {
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
    Http1Reply = 11,
    Preface = 12,
    FrameSize = 13,
    HeaderBlock = 14,
    Continuation = 15,
    StreamState = 16,
    Padding = 17,
    Settings = 18,
    FlowControl = 19,
    Push = 20,
    GoAway = 21,
    PseudoHeader = 22,
    DataBeforeHead = 23,
    // From here on, kinds are in the order in which they were added: a number never changes.
    BodyLength = 24,
    ControlFrames = 25,
    ResetNoError = 26,
    ResetProtocolError = 27,
    ResetInternalError = 28,
    ResetFlowControlError = 29,
    ResetSettingsTimeout = 30,
    ResetStreamClosed = 31,
    ResetFrameSizeError = 32,
    ResetRefusedStream = 33,
    ResetCancel = 34,
    ResetCompressionError = 35,
    ResetConnectError = 36,
    ResetEnhanceYourCalm = 37,
    ResetInadequateSecurity = 38,
    ResetHttp11Required = 39,
    ResetUnknown = 40,
    GrpcStatus = 41,
    H3Frame = 42,
    H3FrameUnexpected = 43,
    H3Settings = 44,
    H3CriticalStream = 45,
    H3GoAway = 46,
    H3Push = 47,
    QpackBlock = 48,
    QpackStream = 49,
    Quic = 50,
    ResetH3NoError = 51,
    ResetH3GeneralProtocolError = 52,
    ResetH3InternalError = 53,
    ResetH3StreamCreationError = 54,
    ResetH3ClosedCriticalStream = 55,
    ResetH3FrameUnexpected = 56,
    ResetH3FrameError = 57,
    ResetH3ExcessiveLoad = 58,
    ResetH3IdError = 59,
    ResetH3SettingsError = 60,
    ResetH3MissingSettings = 61,
    ResetH3RequestRejected = 62,
    ResetH3RequestCancelled = 63,
    ResetH3RequestIncomplete = 64,
    ResetH3MessageError = 65,
    ResetH3ConnectError = 66,
    ResetH3VersionFallback = 67,
    ResetH3Unknown = 68,
    ClosedH3GeneralProtocolError = 69,
    ClosedH3InternalError = 70,
    ClosedH3StreamCreationError = 71,
    ClosedH3ClosedCriticalStream = 72,
    ClosedH3FrameUnexpected = 73,
    ClosedH3FrameError = 74,
    ClosedH3ExcessiveLoad = 75,
    ClosedH3IdError = 76,
    ClosedH3SettingsError = 77,
    ClosedH3MissingSettings = 78,
    ClosedH3RequestRejected = 79,
    ClosedH3RequestCancelled = 80,
    ClosedH3RequestIncomplete = 81,
    ClosedH3MessageError = 82,
    ClosedH3ConnectError = 83,
    ClosedH3VersionFallback = 84,
    ClosedQpack = 85,
    ClosedH3Unknown = 86,
    ClosedQuic = 87,
    QuicVersion = 89,
    QuicMigration = 90,
    TlsCertificateRequired = 91,
    TlsAlert = 92,
    HeaderListTooLarge = 93,
    WebSocketOpcode = 94,
    WebSocketReserved = 95,
    WebSocketMask = 96,
    WebSocketLength = 97,
    WebSocketFragment = 98,
    WebSocketControl = 99,
    WebSocketClose = 100,
    WebSocketText = 101,
    ClosedHttp2ProtocolError = 102,
    ClosedHttp2InternalError = 103,
    ClosedHttp2FlowControlError = 104,
    ClosedHttp2SettingsTimeout = 105,
    ClosedHttp2StreamClosed = 106,
    ClosedHttp2FrameSizeError = 107,
    ClosedHttp2RefusedStream = 108,
    ClosedHttp2Cancel = 109,
    ClosedHttp2CompressionError = 110,
    ClosedHttp2ConnectError = 111,
    ClosedHttp2EnhanceYourCalm = 112,
    ClosedHttp2InadequateSecurity = 113,
    ClosedHttp2Http11Required = 114,
    ClosedHttp2Unknown = 115,
    TlsRecord = 116,
    WebSocketDeflate = 117,
});

/// Returns the failure of a number. An unknown kind becomes [`System`](model::Failure::System), so
/// that sums remain complete.
pub fn failure(number: i32) -> model::Failure {
    Failure::from_number(number).unwrap_or(model::Failure::System)
}
