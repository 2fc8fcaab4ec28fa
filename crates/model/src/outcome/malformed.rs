//! Causes of protocol errors, and codes with which streams and connections ended.

use super::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Cause of a failure: why bytes are no HTTP reply ([`Failure::Protocol`]),
/// the code of a [`Failure::StreamReset`], or the code with which the server
/// closed the connection ([`Failure::Reset`]).
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    thiserror::Error,
)]
#[serde(rename_all = "snake_case")]
pub enum MalformedReply {
    /// The first bytes are no HTTP/1.x status line.
    #[error("the status line is not HTTP/1.x")]
    StatusLine,
    /// A header field is malformed.
    #[error("a header field is malformed")]
    HeaderField,
    /// Limit of brunt: too many header fields.
    #[error("more than 1024 header fields (limit of brunt)")]
    TooManyFields,
    /// Limit of brunt: no blank line within 64 kB.
    #[error("the head is larger than 64 kB (limit of brunt)")]
    HeadTooLarge,
    /// Limit of brunt: too many interim (1xx) replies before the final one.
    #[error("too many interim (1xx) replies before the final one (limit of brunt)")]
    TooManyInterim,
    /// The value is not a number of bytes, or several values differ.
    #[error("Content-Length is not one number of bytes")]
    ContentLength,
    /// An unknown coding, or a coding after chunked.
    #[error("Transfer-Encoding is unknown, or continues after chunked")]
    TransferEncoding,
    /// The framing of a chunk is malformed.
    #[error("the chunked framing of the body is malformed")]
    Chunk,
    /// Limit of brunt: the line with a chunk's size, including its extensions, is too long.
    #[error("the line before a chunk is longer than 4 kB (limit of brunt)")]
    ChunkLineTooLong,
    /// Limit of brunt: the trailers after the last chunk are too large.
    #[error("the trailers after the body are larger than 64 kB (limit of brunt)")]
    TrailersTooLarge,
    /// The first bytes are an HTTP/1 reply.
    #[error("the server answered in HTTP/1, not in HTTP/2")]
    // A server without HTTP/2 answers the preface `PRI * HTTP/2.0` with an HTTP/1 error.
    Http1Reply,
    /// The server answered with an alert of TLS.
    #[error("the server speaks TLS on this port; write https:// or wss://")]
    TlsRecord,
    /// The first frame is not SETTINGS.
    #[error("the first frame is not SETTINGS (RFC 9113 section 3.4)")]
    Preface,
    /// A frame has a wrong size.
    #[error("a frame has a size that it may not have (RFC 9113 section 4.2)")]
    FrameSize,
    /// Compressed header fields that cannot be decoded.
    #[error("the compressed header fields cannot be decoded (RFC 7541)")]
    HeaderBlock,
    /// A header block is interrupted by another frame, or was not started.
    #[error("a header block is interrupted, or was never begun (RFC 9113 section 6.10)")]
    Continuation,
    /// A frame is on a stream on which it is not allowed.
    #[error("a frame is on a stream where it may not be (RFC 9113 section 5.1)")]
    StreamState,
    /// The padding is longer than the frame.
    #[error("a frame is shorter than its padding (RFC 9113 section 6.1)")]
    Padding,
    /// A setting has an invalid value.
    #[error("a setting has a value that it may not have (RFC 9113 section 6.5.2)")]
    Settings,
    /// A window is changed by 0, or becomes too large.
    #[error("a window is changed by 0, or beyond its limit (RFC 9113 section 6.9)")]
    FlowControl,
    /// The server pushed although pushes are disabled.
    #[error("a push was promised though pushes are off (RFC 9113 section 8.4)")]
    Push,
    /// A GOAWAY has a higher stream than the previous one.
    #[error("a GOAWAY names a later stream than the one before (RFC 9113 section 6.8)")]
    GoAway,
    /// The status is missing, or there are wrong pseudo header fields.
    #[error(
        "the status is missing or misplaced, or trailers are wrong (RFC 9113 section 8.3.2, RFC 9114 section 4.3.2)"
    )]
    PseudoHeader,
    /// The body arrived before the head.
    #[error("the body came before the head (RFC 9113 section 8.1, RFC 9114 section 4.1)")]
    DataBeforeHead,
    /// The request was not sent: its header fields are larger than the server allows.
    #[error(
        "the request's header fields are larger than the server allows (SETTINGS_MAX_HEADER_LIST_SIZE, RFC 9113 section 6.5.2)"
    )]
    HeaderListTooLarge,
    /// The server ended TLS 1.3 after the handshake, since the client has no certificate.
    #[error(
        "the server requires a client certificate (alert certificate_required); add --cert FILE --key FILE"
    )]
    TlsCertificateRequired,
    /// The server ended TLS with another alert after the handshake.
    #[error("the server ended TLS with an alert after the handshake; look at the server's log")]
    TlsAlert,
    /// A frame has an unknown opcode.
    #[error("a WebSocket frame has an unknown opcode (RFC 6455 section 5.2)")]
    WebSocketOpcode,
    /// A frame has a reserved bit that was not negotiated.
    #[error("a WebSocket frame has a reserved bit that was not negotiated (RFC 6455 section 5.2)")]
    WebSocketReserved,
    /// A frame of the server is masked.
    #[error("a WebSocket frame of the server is masked (RFC 6455 section 5.1)")]
    WebSocketMask,
    /// The length of a frame is not written in the shortest way, or too large.
    #[error(
        "the length of a WebSocket frame is not written in the shortest way, or has 64 bits (RFC 6455 section 5.2)"
    )]
    WebSocketLength,
    /// A message begins within another one, or goes on without a begin.
    #[error(
        "a WebSocket message begins within another one, or continues without a begin (RFC 6455 section 5.4)"
    )]
    WebSocketFragment,
    /// A control frame is fragmented or too long.
    #[error(
        "a WebSocket control frame is fragmented, or longer than 125 bytes (RFC 6455 section 5.5)"
    )]
    WebSocketControl,
    /// The code or reason of a close frame is invalid.
    #[error(
        "a WebSocket close frame has an invalid code or reason (RFC 6455 sections 5.5.1 and 7.4)"
    )]
    WebSocketClose,
    /// A text message is not UTF-8.
    #[error("a WebSocket text message is not UTF-8 (RFC 6455 section 8.1)")]
    WebSocketText,
    /// A compressed message cannot be decompressed.
    #[error("a compressed WebSocket message cannot be decompressed (RFC 7692 section 7.2.2)")]
    WebSocketDeflate,
    /// A gRPC reply has no status.
    #[error("the reply of gRPC has no grpc-status")]
    GrpcStatus,
    /// The length of the body differs from Content-Length.
    #[error(
        "the length of the body differs from Content-Length (RFC 9113 section 8.1.1, RFC 9114 section 4.1.2)"
    )]
    BodyLength,
    /// Limit of brunt: too many frames that need a response.
    #[error("the server sends SETTINGS or PING without end (limit of brunt)")]
    // Each needs a response, so a flood of them keeps the client busy (CVE-2019-9512,
    // CVE-2019-9515).
    ControlFrames,
    /// The code `NO_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with NO_ERROR")]
    ResetNoError,
    /// The code `PROTOCOL_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with PROTOCOL_ERROR")]
    ResetProtocolError,
    /// The code `INTERNAL_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with INTERNAL_ERROR")]
    ResetInternalError,
    /// The code `FLOW_CONTROL_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with FLOW_CONTROL_ERROR")]
    ResetFlowControlError,
    /// The code `SETTINGS_TIMEOUT` of a [`Failure::StreamReset`].
    #[error("the stream was reset with SETTINGS_TIMEOUT")]
    ResetSettingsTimeout,
    /// The code `STREAM_CLOSED` of a [`Failure::StreamReset`].
    #[error("the stream was reset with STREAM_CLOSED")]
    ResetStreamClosed,
    /// The code `FRAME_SIZE_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with FRAME_SIZE_ERROR")]
    ResetFrameSizeError,
    /// The code `REFUSED_STREAM` of a [`Failure::StreamReset`].
    #[error("the stream was reset with REFUSED_STREAM")]
    ResetRefusedStream,
    /// The code `CANCEL` of a [`Failure::StreamReset`].
    #[error("the stream was reset with CANCEL")]
    ResetCancel,
    /// The code `COMPRESSION_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with COMPRESSION_ERROR")]
    ResetCompressionError,
    /// The code `CONNECT_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with CONNECT_ERROR")]
    ResetConnectError,
    /// The code `ENHANCE_YOUR_CALM` of a [`Failure::StreamReset`].
    #[error("the stream was reset with ENHANCE_YOUR_CALM")]
    ResetEnhanceYourCalm,
    /// The code `INADEQUATE_SECURITY` of a [`Failure::StreamReset`].
    #[error("the stream was reset with INADEQUATE_SECURITY")]
    ResetInadequateSecurity,
    /// The code `HTTP_1_1_REQUIRED` of a [`Failure::StreamReset`].
    #[error("the stream was reset with HTTP_1_1_REQUIRED")]
    ResetHttp11Required,
    /// Unknown code of a [`Failure::StreamReset`].
    #[error("the stream was reset with an unknown code")]
    ResetUnknown,
    /// The length of a frame differs from its content.
    #[error("a frame has a wrong length, or its stream ends in it (RFC 9114 section 7.1)")]
    H3Frame,
    /// A frame is on a stream on which it is not allowed.
    #[error("a frame is on a stream where it may not be (RFC 9114 section 7.2)")]
    H3FrameUnexpected,
    /// Settings are missing, repeated, or have an invalid value.
    #[error("settings are missing, come twice, or have a wrong value (RFC 9114 section 7.2.4)")]
    H3Settings,
    /// A control stream ended, or was opened twice.
    #[error("a control stream ended, or was opened twice (RFC 9114 section 6.2)")]
    H3CriticalStream,
    /// A GOAWAY has an invalid number.
    #[error("a GOAWAY names no request, or a later one than before (RFC 9114 section 5.2)")]
    H3GoAway,
    /// The server pushed although pushes were never allowed.
    #[error("a push came that was not allowed (RFC 9114 section 4.6)")]
    H3Push,
    /// Compressed header fields that cannot be decoded.
    #[error("the compressed header fields cannot be decoded (RFC 9204)")]
    QpackBlock,
    /// An invalid instruction on a QPACK stream.
    #[error("an instruction of QPACK is wrong (RFC 9204 section 4.3)")]
    QpackStream,
    /// The server violated a rule of QUIC.
    #[error("the server broke a rule of QUIC (RFC 9000)")]
    Quic,
    /// The server has no version of QUIC that brunt supports.
    #[error("the server offers no version of QUIC that brunt speaks (RFC 9000 section 6)")]
    QuicVersion,
    /// The server forbids connection migration.
    #[error(
        "the server forbids connection migration (disable_active_migration, RFC 9000 section 18.2)"
    )]
    QuicMigration,
    /// The code `H3_NO_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_NO_ERROR")]
    ResetH3NoError,
    /// The code `H3_GENERAL_PROTOCOL_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_GENERAL_PROTOCOL_ERROR")]
    ResetH3GeneralProtocolError,
    /// The code `H3_INTERNAL_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_INTERNAL_ERROR")]
    ResetH3InternalError,
    /// The code `H3_STREAM_CREATION_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_STREAM_CREATION_ERROR")]
    ResetH3StreamCreationError,
    /// The code `H3_CLOSED_CRITICAL_STREAM` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_CLOSED_CRITICAL_STREAM")]
    ResetH3ClosedCriticalStream,
    /// The code `H3_FRAME_UNEXPECTED` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_FRAME_UNEXPECTED")]
    ResetH3FrameUnexpected,
    /// The code `H3_FRAME_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_FRAME_ERROR")]
    ResetH3FrameError,
    /// The code `H3_EXCESSIVE_LOAD` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_EXCESSIVE_LOAD")]
    ResetH3ExcessiveLoad,
    /// The code `H3_ID_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_ID_ERROR")]
    ResetH3IdError,
    /// The code `H3_SETTINGS_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_SETTINGS_ERROR")]
    ResetH3SettingsError,
    /// The code `H3_MISSING_SETTINGS` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_MISSING_SETTINGS")]
    ResetH3MissingSettings,
    /// The code `H3_REQUEST_REJECTED` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_REQUEST_REJECTED")]
    ResetH3RequestRejected,
    /// The code `H3_REQUEST_CANCELLED` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_REQUEST_CANCELLED")]
    ResetH3RequestCancelled,
    /// The code `H3_REQUEST_INCOMPLETE` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_REQUEST_INCOMPLETE")]
    ResetH3RequestIncomplete,
    /// The code `H3_MESSAGE_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_MESSAGE_ERROR")]
    ResetH3MessageError,
    /// The code `H3_CONNECT_ERROR` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_CONNECT_ERROR")]
    ResetH3ConnectError,
    /// The code `H3_VERSION_FALLBACK` of a [`Failure::StreamReset`].
    #[error("the stream was reset with H3_VERSION_FALLBACK")]
    ResetH3VersionFallback,
    /// Unknown HTTP/3 code of a [`Failure::StreamReset`].
    #[error("the stream was reset with an unknown code of HTTP/3")]
    ResetH3Unknown,
    /// The connection was closed with `H3_GENERAL_PROTOCOL_ERROR`.
    #[error("the server closed the connection with H3_GENERAL_PROTOCOL_ERROR")]
    ClosedH3GeneralProtocolError,
    /// The connection was closed with `H3_INTERNAL_ERROR`.
    #[error("the server closed the connection with H3_INTERNAL_ERROR")]
    ClosedH3InternalError,
    /// The connection was closed with `H3_STREAM_CREATION_ERROR`.
    #[error("the server closed the connection with H3_STREAM_CREATION_ERROR")]
    ClosedH3StreamCreationError,
    /// The connection was closed with `H3_CLOSED_CRITICAL_STREAM`.
    #[error("the server closed the connection with H3_CLOSED_CRITICAL_STREAM")]
    ClosedH3ClosedCriticalStream,
    /// The connection was closed with `H3_FRAME_UNEXPECTED`.
    #[error("the server closed the connection with H3_FRAME_UNEXPECTED")]
    ClosedH3FrameUnexpected,
    /// The connection was closed with `H3_FRAME_ERROR`.
    #[error("the server closed the connection with H3_FRAME_ERROR")]
    ClosedH3FrameError,
    /// The connection was closed with `H3_EXCESSIVE_LOAD`.
    #[error("the server closed the connection with H3_EXCESSIVE_LOAD")]
    ClosedH3ExcessiveLoad,
    /// The connection was closed with `H3_ID_ERROR`.
    #[error("the server closed the connection with H3_ID_ERROR")]
    ClosedH3IdError,
    /// The connection was closed with `H3_SETTINGS_ERROR`.
    #[error("the server closed the connection with H3_SETTINGS_ERROR")]
    ClosedH3SettingsError,
    /// The connection was closed with `H3_MISSING_SETTINGS`.
    #[error("the server closed the connection with H3_MISSING_SETTINGS")]
    ClosedH3MissingSettings,
    /// The connection was closed with `H3_REQUEST_REJECTED`.
    #[error("the server closed the connection with H3_REQUEST_REJECTED")]
    ClosedH3RequestRejected,
    /// The connection was closed with `H3_REQUEST_CANCELLED`.
    #[error("the server closed the connection with H3_REQUEST_CANCELLED")]
    ClosedH3RequestCancelled,
    /// The connection was closed with `H3_REQUEST_INCOMPLETE`.
    #[error("the server closed the connection with H3_REQUEST_INCOMPLETE")]
    ClosedH3RequestIncomplete,
    /// The connection was closed with `H3_MESSAGE_ERROR`.
    #[error("the server closed the connection with H3_MESSAGE_ERROR")]
    ClosedH3MessageError,
    /// The connection was closed with `H3_CONNECT_ERROR`.
    #[error("the server closed the connection with H3_CONNECT_ERROR")]
    ClosedH3ConnectError,
    /// The connection was closed with `H3_VERSION_FALLBACK`.
    #[error("the server closed the connection with H3_VERSION_FALLBACK")]
    ClosedH3VersionFallback,
    /// The connection was closed with a QPACK code.
    #[error("the server closed the connection with an error of QPACK")]
    ClosedQpack,
    /// The connection was closed with an unknown HTTP/3 code.
    #[error("the server closed the connection with an unknown code of HTTP/3")]
    ClosedH3Unknown,
    /// The connection was closed with a QUIC code.
    #[error("the server closed the connection with an error of QUIC (RFC 9000 section 20.1)")]
    ClosedQuic,
    /// The connection was closed with `PROTOCOL_ERROR` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with PROTOCOL_ERROR")]
    ClosedHttp2ProtocolError,
    /// The connection was closed with `INTERNAL_ERROR` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with INTERNAL_ERROR")]
    ClosedHttp2InternalError,
    /// The connection was closed with `FLOW_CONTROL_ERROR` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with FLOW_CONTROL_ERROR")]
    ClosedHttp2FlowControlError,
    /// The connection was closed with `SETTINGS_TIMEOUT` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with SETTINGS_TIMEOUT")]
    ClosedHttp2SettingsTimeout,
    /// The connection was closed with `STREAM_CLOSED` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with STREAM_CLOSED")]
    ClosedHttp2StreamClosed,
    /// The connection was closed with `FRAME_SIZE_ERROR` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with FRAME_SIZE_ERROR")]
    ClosedHttp2FrameSizeError,
    /// The connection was closed with `REFUSED_STREAM` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with REFUSED_STREAM")]
    ClosedHttp2RefusedStream,
    /// The connection was closed with `CANCEL` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with CANCEL")]
    ClosedHttp2Cancel,
    /// The connection was closed with `COMPRESSION_ERROR` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with COMPRESSION_ERROR")]
    ClosedHttp2CompressionError,
    /// The connection was closed with `CONNECT_ERROR` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with CONNECT_ERROR")]
    ClosedHttp2ConnectError,
    /// The connection was closed with `ENHANCE_YOUR_CALM` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with ENHANCE_YOUR_CALM")]
    ClosedHttp2EnhanceYourCalm,
    /// The connection was closed with `INADEQUATE_SECURITY` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with INADEQUATE_SECURITY")]
    ClosedHttp2InadequateSecurity,
    /// The connection was closed with `HTTP_1_1_REQUIRED` (GOAWAY of HTTP/2).
    #[error("the server closed the connection with HTTP_1_1_REQUIRED")]
    ClosedHttp2Http11Required,
    /// The connection was closed with an unknown HTTP/2 code.
    #[error("the server closed the connection with an unknown code of HTTP/2")]
    ClosedHttp2Unknown,
}

impl MalformedReply {
    /// Returns the kind of failure with this cause.
    pub fn failure(self) -> Failure {
        match self {
            // In TLS 1.3 the client completes the handshake before the server checks its
            // certificate (RFC 8446). The alert thus arrives in place of the reply, but the
            // handshake failed.
            Self::TlsCertificateRequired | Self::TlsAlert => Failure::Tls,
            // The variants are ordered by kind of failure.
            _ if self < Self::ResetNoError => Failure::Protocol,
            _ if self < Self::H3Frame => Failure::StreamReset,
            _ if self < Self::ResetH3NoError => Failure::Protocol,
            _ if self < Self::ClosedH3GeneralProtocolError => Failure::StreamReset,
            _ => Failure::Reset,
        }
    }

    /// True if the bytes are those of another protocol, so that the port or the version may be wrong.
    pub fn is_other_protocol(self) -> bool {
        matches!(self, Self::StatusLine | Self::Http1Reply | Self::Preface)
    }

    /// Returns its name in JSON and CSV.
    pub fn key(self) -> &'static str {
        match self {
            Self::StatusLine => "status_line",
            Self::HeaderField => "header_field",
            Self::TooManyFields => "too_many_fields",
            Self::HeadTooLarge => "head_too_large",
            Self::TooManyInterim => "too_many_interim",
            Self::ContentLength => "content_length",
            Self::TransferEncoding => "transfer_encoding",
            Self::Chunk => "chunk",
            Self::ChunkLineTooLong => "chunk_line_too_long",
            Self::TrailersTooLarge => "trailers_too_large",
            Self::Http1Reply => "http1_reply",
            Self::TlsRecord => "tls_record",
            Self::Preface => "preface",
            Self::FrameSize => "frame_size",
            Self::HeaderBlock => "header_block",
            Self::Continuation => "continuation",
            Self::StreamState => "stream_state",
            Self::Padding => "padding",
            Self::Settings => "settings",
            Self::FlowControl => "flow_control",
            Self::Push => "push",
            Self::GoAway => "go_away",
            Self::PseudoHeader => "pseudo_header",
            Self::DataBeforeHead => "data_before_head",
            Self::HeaderListTooLarge => "header_list_too_large",
            Self::TlsCertificateRequired => "tls_certificate_required",
            Self::TlsAlert => "tls_alert",
            Self::WebSocketOpcode => "web_socket_opcode",
            Self::WebSocketReserved => "web_socket_reserved",
            Self::WebSocketMask => "web_socket_mask",
            Self::WebSocketLength => "web_socket_length",
            Self::WebSocketFragment => "web_socket_fragment",
            Self::WebSocketControl => "web_socket_control",
            Self::WebSocketClose => "web_socket_close",
            Self::WebSocketText => "web_socket_text",
            Self::WebSocketDeflate => "web_socket_deflate",
            Self::GrpcStatus => "grpc_status",
            Self::BodyLength => "body_length",
            Self::ControlFrames => "control_frames",
            Self::ResetNoError => "reset_no_error",
            Self::ResetProtocolError => "reset_protocol_error",
            Self::ResetInternalError => "reset_internal_error",
            Self::ResetFlowControlError => "reset_flow_control_error",
            Self::ResetSettingsTimeout => "reset_settings_timeout",
            Self::ResetStreamClosed => "reset_stream_closed",
            Self::ResetFrameSizeError => "reset_frame_size_error",
            Self::ResetRefusedStream => "reset_refused_stream",
            Self::ResetCancel => "reset_cancel",
            Self::ResetCompressionError => "reset_compression_error",
            Self::ResetConnectError => "reset_connect_error",
            Self::ResetEnhanceYourCalm => "reset_enhance_your_calm",
            Self::ResetInadequateSecurity => "reset_inadequate_security",
            Self::ResetHttp11Required => "reset_http_1_1_required",
            Self::ResetUnknown => "reset_unknown",
            Self::H3Frame => "h3_frame",
            Self::H3FrameUnexpected => "h3_frame_unexpected",
            Self::H3Settings => "h3_settings",
            Self::H3CriticalStream => "h3_critical_stream",
            Self::H3GoAway => "h3_go_away",
            Self::H3Push => "h3_push",
            Self::QpackBlock => "qpack_block",
            Self::QpackStream => "qpack_stream",
            Self::Quic => "quic",
            Self::QuicVersion => "quic_version",
            Self::QuicMigration => "quic_migration",
            Self::ResetH3NoError => "reset_h3_no_error",
            Self::ResetH3GeneralProtocolError => "reset_h3_general_protocol_error",
            Self::ResetH3InternalError => "reset_h3_internal_error",
            Self::ResetH3StreamCreationError => "reset_h3_stream_creation_error",
            Self::ResetH3ClosedCriticalStream => "reset_h3_closed_critical_stream",
            Self::ResetH3FrameUnexpected => "reset_h3_frame_unexpected",
            Self::ResetH3FrameError => "reset_h3_frame_error",
            Self::ResetH3ExcessiveLoad => "reset_h3_excessive_load",
            Self::ResetH3IdError => "reset_h3_id_error",
            Self::ResetH3SettingsError => "reset_h3_settings_error",
            Self::ResetH3MissingSettings => "reset_h3_missing_settings",
            Self::ResetH3RequestRejected => "reset_h3_request_rejected",
            Self::ResetH3RequestCancelled => "reset_h3_request_cancelled",
            Self::ResetH3RequestIncomplete => "reset_h3_request_incomplete",
            Self::ResetH3MessageError => "reset_h3_message_error",
            Self::ResetH3ConnectError => "reset_h3_connect_error",
            Self::ResetH3VersionFallback => "reset_h3_version_fallback",
            Self::ResetH3Unknown => "reset_h3_unknown",
            Self::ClosedH3GeneralProtocolError => "closed_h3_general_protocol_error",
            Self::ClosedH3InternalError => "closed_h3_internal_error",
            Self::ClosedH3StreamCreationError => "closed_h3_stream_creation_error",
            Self::ClosedH3ClosedCriticalStream => "closed_h3_closed_critical_stream",
            Self::ClosedH3FrameUnexpected => "closed_h3_frame_unexpected",
            Self::ClosedH3FrameError => "closed_h3_frame_error",
            Self::ClosedH3ExcessiveLoad => "closed_h3_excessive_load",
            Self::ClosedH3IdError => "closed_h3_id_error",
            Self::ClosedH3SettingsError => "closed_h3_settings_error",
            Self::ClosedH3MissingSettings => "closed_h3_missing_settings",
            Self::ClosedH3RequestRejected => "closed_h3_request_rejected",
            Self::ClosedH3RequestCancelled => "closed_h3_request_cancelled",
            Self::ClosedH3RequestIncomplete => "closed_h3_request_incomplete",
            Self::ClosedH3MessageError => "closed_h3_message_error",
            Self::ClosedH3ConnectError => "closed_h3_connect_error",
            Self::ClosedH3VersionFallback => "closed_h3_version_fallback",
            Self::ClosedQpack => "closed_qpack",
            Self::ClosedH3Unknown => "closed_h3_unknown",
            Self::ClosedQuic => "closed_quic",
            Self::ClosedHttp2ProtocolError => "closed_http2_protocol_error",
            Self::ClosedHttp2InternalError => "closed_http2_internal_error",
            Self::ClosedHttp2FlowControlError => "closed_http2_flow_control_error",
            Self::ClosedHttp2SettingsTimeout => "closed_http2_settings_timeout",
            Self::ClosedHttp2StreamClosed => "closed_http2_stream_closed",
            Self::ClosedHttp2FrameSizeError => "closed_http2_frame_size_error",
            Self::ClosedHttp2RefusedStream => "closed_http2_refused_stream",
            Self::ClosedHttp2Cancel => "closed_http2_cancel",
            Self::ClosedHttp2CompressionError => "closed_http2_compression_error",
            Self::ClosedHttp2ConnectError => "closed_http2_connect_error",
            Self::ClosedHttp2EnhanceYourCalm => "closed_http2_enhance_your_calm",
            Self::ClosedHttp2InadequateSecurity => "closed_http2_inadequate_security",
            Self::ClosedHttp2Http11Required => "closed_http2_http_1_1_required",
            Self::ClosedHttp2Unknown => "closed_http2_unknown",
        }
    }
}
