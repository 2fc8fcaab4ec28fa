//! Causes of protocol errors, and codes with which streams and connections ended.

use super::Failure;
use crate::text;
use crate::text::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;

/// Cause of a failure: why bytes are no HTTP reply ([`Failure::Protocol`]),
/// the code of a [`Failure::StreamReset`], or the code with which the server
/// closed the connection ([`Failure::Reset`]).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MalformedReply {
    /// The first bytes are no HTTP/1.x status line.
    StatusLine,
    /// A header field is malformed.
    HeaderField,
    /// Limit of brunt: too many header fields.
    TooManyFields,
    /// Limit of brunt: no blank line within 64 kB.
    HeadTooLarge,
    /// Limit of brunt: too many interim (1xx) replies before the final one.
    TooManyInterim,
    /// The value is not a number of bytes, or several values differ.
    ContentLength,
    /// An unknown coding, or a coding after chunked.
    TransferEncoding,
    /// The framing of a chunk is malformed.
    Chunk,
    /// Limit of brunt: the line with a chunk's size, including its extensions, is too long.
    ChunkLineTooLong,
    /// Limit of brunt: the trailers after the last chunk are too large.
    TrailersTooLarge,
    /// The first bytes are an HTTP/1 reply.
    // A server without HTTP/2 answers the preface `PRI * HTTP/2.0` with an HTTP/1 error.
    Http1Reply,
    /// The server answered with an alert of TLS.
    TlsRecord,
    /// The first frame is not SETTINGS.
    Preface,
    /// A frame has a wrong size.
    FrameSize,
    /// Compressed header fields that cannot be decoded.
    HeaderBlock,
    /// A header block is interrupted by another frame, or was not started.
    Continuation,
    /// A frame is on a stream on which it is not allowed.
    StreamState,
    /// The padding is longer than the frame.
    Padding,
    /// A setting has an invalid value.
    Settings,
    /// A window is changed by 0, or becomes too large.
    FlowControl,
    /// The server pushed although pushes are disabled.
    Push,
    /// A GOAWAY has a higher stream than the previous one.
    GoAway,
    /// The status is missing, or there are wrong pseudo header fields.
    PseudoHeader,
    /// The body arrived before the head.
    DataBeforeHead,
    /// The request was not sent: its header fields are larger than the server allows.
    HeaderListTooLarge,
    /// The server ended TLS 1.3 after the handshake, since the client has no certificate.
    TlsCertificateRequired,
    /// The server ended TLS with another alert after the handshake.
    TlsAlert,
    /// A frame has an unknown opcode.
    WebSocketOpcode,
    /// A frame has a reserved bit that was not negotiated.
    WebSocketReserved,
    /// A frame of the server is masked.
    WebSocketMask,
    /// The length of a frame is not written in the shortest way, or too large.
    WebSocketLength,
    /// A message begins within another one, or goes on without a begin.
    WebSocketFragment,
    /// A control frame is fragmented or too long.
    WebSocketControl,
    /// The code or reason of a close frame is invalid.
    WebSocketClose,
    /// A text message is not UTF-8.
    WebSocketText,
    /// A compressed message cannot be decompressed.
    WebSocketDeflate,
    /// A gRPC reply has no status.
    GrpcStatus,
    /// The length of the body differs from Content-Length.
    BodyLength,
    /// Limit of brunt: too many frames that need a response.
    // Each needs a response, so a flood of them keeps the client busy (CVE-2019-9512,
    // CVE-2019-9515).
    ControlFrames,
    /// The code `NO_ERROR` of a [`Failure::StreamReset`].
    ResetNoError,
    /// The code `PROTOCOL_ERROR` of a [`Failure::StreamReset`].
    ResetProtocolError,
    /// The code `INTERNAL_ERROR` of a [`Failure::StreamReset`].
    ResetInternalError,
    /// The code `FLOW_CONTROL_ERROR` of a [`Failure::StreamReset`].
    ResetFlowControlError,
    /// The code `SETTINGS_TIMEOUT` of a [`Failure::StreamReset`].
    ResetSettingsTimeout,
    /// The code `STREAM_CLOSED` of a [`Failure::StreamReset`].
    ResetStreamClosed,
    /// The code `FRAME_SIZE_ERROR` of a [`Failure::StreamReset`].
    ResetFrameSizeError,
    /// The code `REFUSED_STREAM` of a [`Failure::StreamReset`].
    ResetRefusedStream,
    /// The code `CANCEL` of a [`Failure::StreamReset`].
    ResetCancel,
    /// The code `COMPRESSION_ERROR` of a [`Failure::StreamReset`].
    ResetCompressionError,
    /// The code `CONNECT_ERROR` of a [`Failure::StreamReset`].
    ResetConnectError,
    /// The code `ENHANCE_YOUR_CALM` of a [`Failure::StreamReset`].
    ResetEnhanceYourCalm,
    /// The code `INADEQUATE_SECURITY` of a [`Failure::StreamReset`].
    ResetInadequateSecurity,
    /// The code `HTTP_1_1_REQUIRED` of a [`Failure::StreamReset`].
    ResetHttp11Required,
    /// Unknown code of a [`Failure::StreamReset`].
    ResetUnknown,
    /// The length of a frame differs from its content.
    H3Frame,
    /// A frame is on a stream on which it is not allowed.
    H3FrameUnexpected,
    /// Settings are missing, repeated, or have an invalid value.
    H3Settings,
    /// A control stream ended, or was opened twice.
    H3CriticalStream,
    /// A GOAWAY has an invalid number.
    H3GoAway,
    /// The server pushed although pushes were never allowed.
    H3Push,
    /// Compressed header fields that cannot be decoded.
    QpackBlock,
    /// An invalid instruction on a QPACK stream.
    QpackStream,
    /// The server violated a rule of QUIC.
    Quic,
    /// The server has no version of QUIC that brunt supports.
    QuicVersion,
    /// The server forbids connection migration.
    QuicMigration,
    /// The code `H3_NO_ERROR` of a [`Failure::StreamReset`].
    ResetH3NoError,
    /// The code `H3_GENERAL_PROTOCOL_ERROR` of a [`Failure::StreamReset`].
    ResetH3GeneralProtocolError,
    /// The code `H3_INTERNAL_ERROR` of a [`Failure::StreamReset`].
    ResetH3InternalError,
    /// The code `H3_STREAM_CREATION_ERROR` of a [`Failure::StreamReset`].
    ResetH3StreamCreationError,
    /// The code `H3_CLOSED_CRITICAL_STREAM` of a [`Failure::StreamReset`].
    ResetH3ClosedCriticalStream,
    /// The code `H3_FRAME_UNEXPECTED` of a [`Failure::StreamReset`].
    ResetH3FrameUnexpected,
    /// The code `H3_FRAME_ERROR` of a [`Failure::StreamReset`].
    ResetH3FrameError,
    /// The code `H3_EXCESSIVE_LOAD` of a [`Failure::StreamReset`].
    ResetH3ExcessiveLoad,
    /// The code `H3_ID_ERROR` of a [`Failure::StreamReset`].
    ResetH3IdError,
    /// The code `H3_SETTINGS_ERROR` of a [`Failure::StreamReset`].
    ResetH3SettingsError,
    /// The code `H3_MISSING_SETTINGS` of a [`Failure::StreamReset`].
    ResetH3MissingSettings,
    /// The code `H3_REQUEST_REJECTED` of a [`Failure::StreamReset`].
    ResetH3RequestRejected,
    /// The code `H3_REQUEST_CANCELLED` of a [`Failure::StreamReset`].
    ResetH3RequestCancelled,
    /// The code `H3_REQUEST_INCOMPLETE` of a [`Failure::StreamReset`].
    ResetH3RequestIncomplete,
    /// The code `H3_MESSAGE_ERROR` of a [`Failure::StreamReset`].
    ResetH3MessageError,
    /// The code `H3_CONNECT_ERROR` of a [`Failure::StreamReset`].
    ResetH3ConnectError,
    /// The code `H3_VERSION_FALLBACK` of a [`Failure::StreamReset`].
    ResetH3VersionFallback,
    /// Unknown HTTP/3 code of a [`Failure::StreamReset`].
    ResetH3Unknown,
    /// The connection was closed with `H3_GENERAL_PROTOCOL_ERROR`.
    ClosedH3GeneralProtocolError,
    /// The connection was closed with `H3_INTERNAL_ERROR`.
    ClosedH3InternalError,
    /// The connection was closed with `H3_STREAM_CREATION_ERROR`.
    ClosedH3StreamCreationError,
    /// The connection was closed with `H3_CLOSED_CRITICAL_STREAM`.
    ClosedH3ClosedCriticalStream,
    /// The connection was closed with `H3_FRAME_UNEXPECTED`.
    ClosedH3FrameUnexpected,
    /// The connection was closed with `H3_FRAME_ERROR`.
    ClosedH3FrameError,
    /// The connection was closed with `H3_EXCESSIVE_LOAD`.
    ClosedH3ExcessiveLoad,
    /// The connection was closed with `H3_ID_ERROR`.
    ClosedH3IdError,
    /// The connection was closed with `H3_SETTINGS_ERROR`.
    ClosedH3SettingsError,
    /// The connection was closed with `H3_MISSING_SETTINGS`.
    ClosedH3MissingSettings,
    /// The connection was closed with `H3_REQUEST_REJECTED`.
    ClosedH3RequestRejected,
    /// The connection was closed with `H3_REQUEST_CANCELLED`.
    ClosedH3RequestCancelled,
    /// The connection was closed with `H3_REQUEST_INCOMPLETE`.
    ClosedH3RequestIncomplete,
    /// The connection was closed with `H3_MESSAGE_ERROR`.
    ClosedH3MessageError,
    /// The connection was closed with `H3_CONNECT_ERROR`.
    ClosedH3ConnectError,
    /// The connection was closed with `H3_VERSION_FALLBACK`.
    ClosedH3VersionFallback,
    /// The connection was closed with a QPACK code.
    ClosedQpack,
    /// The connection was closed with an unknown HTTP/3 code.
    ClosedH3Unknown,
    /// The connection was closed with a QUIC code.
    ClosedQuic,
    /// The connection was closed with `PROTOCOL_ERROR` (GOAWAY of HTTP/2).
    ClosedHttp2ProtocolError,
    /// The connection was closed with `INTERNAL_ERROR` (GOAWAY of HTTP/2).
    ClosedHttp2InternalError,
    /// The connection was closed with `FLOW_CONTROL_ERROR` (GOAWAY of HTTP/2).
    ClosedHttp2FlowControlError,
    /// The connection was closed with `SETTINGS_TIMEOUT` (GOAWAY of HTTP/2).
    ClosedHttp2SettingsTimeout,
    /// The connection was closed with `STREAM_CLOSED` (GOAWAY of HTTP/2).
    ClosedHttp2StreamClosed,
    /// The connection was closed with `FRAME_SIZE_ERROR` (GOAWAY of HTTP/2).
    ClosedHttp2FrameSizeError,
    /// The connection was closed with `REFUSED_STREAM` (GOAWAY of HTTP/2).
    ClosedHttp2RefusedStream,
    /// The connection was closed with `CANCEL` (GOAWAY of HTTP/2).
    ClosedHttp2Cancel,
    /// The connection was closed with `COMPRESSION_ERROR` (GOAWAY of HTTP/2).
    ClosedHttp2CompressionError,
    /// The connection was closed with `CONNECT_ERROR` (GOAWAY of HTTP/2).
    ClosedHttp2ConnectError,
    /// The connection was closed with `ENHANCE_YOUR_CALM` (GOAWAY of HTTP/2).
    ClosedHttp2EnhanceYourCalm,
    /// The connection was closed with `INADEQUATE_SECURITY` (GOAWAY of HTTP/2).
    ClosedHttp2InadequateSecurity,
    /// The connection was closed with `HTTP_1_1_REQUIRED` (GOAWAY of HTTP/2).
    ClosedHttp2Http11Required,
    /// The connection was closed with an unknown HTTP/2 code.
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

    /// Describes the cause.
    pub fn text(self) -> Text {
        match self {
            Self::StatusLine => text!("cause-status-line"),
            Self::HeaderField => text!("cause-header-field"),
            Self::TooManyFields => text!("cause-too-many-fields"),
            Self::HeadTooLarge => text!("cause-head-too-large"),
            Self::TooManyInterim => text!("cause-too-many-interim"),
            Self::ContentLength => text!("cause-content-length"),
            Self::TransferEncoding => text!("cause-transfer-encoding"),
            Self::Chunk => text!("cause-chunk"),
            Self::ChunkLineTooLong => text!("cause-chunk-line-too-long"),
            Self::TrailersTooLarge => text!("cause-trailers-too-large"),
            Self::Http1Reply => text!("cause-http1-reply"),
            Self::TlsRecord => text!("cause-tls-record"),
            Self::Preface => text!("cause-preface"),
            Self::FrameSize => text!("cause-frame-size"),
            Self::HeaderBlock => text!("cause-header-block", rfc = "RFC 7541"),
            Self::Continuation => text!("cause-continuation"),
            Self::StreamState => text!("cause-stream-state", rfc = "RFC 9113 section 5.1"),
            Self::Padding => text!("cause-padding"),
            Self::Settings => text!("cause-settings"),
            Self::FlowControl => text!("cause-flow-control"),
            Self::Push => text!("cause-push"),
            Self::GoAway => text!("cause-go-away"),
            Self::PseudoHeader => text!("cause-pseudo-header"),
            Self::DataBeforeHead => text!("cause-data-before-head"),
            Self::HeaderListTooLarge => text!("cause-header-list-too-large"),
            Self::TlsCertificateRequired => text!("cause-tls-certificate-required"),
            Self::TlsAlert => text!("cause-tls-alert"),
            Self::WebSocketOpcode => text!("cause-web-socket-opcode"),
            Self::WebSocketReserved => text!("cause-web-socket-reserved"),
            Self::WebSocketMask => text!("cause-web-socket-mask"),
            Self::WebSocketLength => text!("cause-web-socket-length"),
            Self::WebSocketFragment => text!("cause-web-socket-fragment"),
            Self::WebSocketControl => text!("cause-web-socket-control"),
            Self::WebSocketClose => text!("cause-web-socket-close"),
            Self::WebSocketText => text!("cause-web-socket-text"),
            Self::WebSocketDeflate => text!("cause-web-socket-deflate"),
            Self::GrpcStatus => text!("cause-grpc-status"),
            Self::BodyLength => text!("cause-body-length"),
            Self::ControlFrames => text!("cause-control-frames"),
            Self::ResetNoError => text!("cause-reset", code = "NO_ERROR"),
            Self::ResetProtocolError => text!("cause-reset", code = "PROTOCOL_ERROR"),
            Self::ResetInternalError => text!("cause-reset", code = "INTERNAL_ERROR"),
            Self::ResetFlowControlError => text!("cause-reset", code = "FLOW_CONTROL_ERROR"),
            Self::ResetSettingsTimeout => text!("cause-reset", code = "SETTINGS_TIMEOUT"),
            Self::ResetStreamClosed => text!("cause-reset", code = "STREAM_CLOSED"),
            Self::ResetFrameSizeError => text!("cause-reset", code = "FRAME_SIZE_ERROR"),
            Self::ResetRefusedStream => text!("cause-reset", code = "REFUSED_STREAM"),
            Self::ResetCancel => text!("cause-reset", code = "CANCEL"),
            Self::ResetCompressionError => text!("cause-reset", code = "COMPRESSION_ERROR"),
            Self::ResetConnectError => text!("cause-reset", code = "CONNECT_ERROR"),
            Self::ResetEnhanceYourCalm => text!("cause-reset", code = "ENHANCE_YOUR_CALM"),
            Self::ResetInadequateSecurity => text!("cause-reset", code = "INADEQUATE_SECURITY"),
            Self::ResetHttp11Required => text!("cause-reset", code = "HTTP_1_1_REQUIRED"),
            Self::ResetUnknown => text!("cause-reset-unknown"),
            Self::H3Frame => text!("cause-h3-frame"),
            Self::H3FrameUnexpected => text!("cause-stream-state", rfc = "RFC 9114 section 7.2"),
            Self::H3Settings => text!("cause-h3-settings"),
            Self::H3CriticalStream => text!("cause-h3-critical-stream"),
            Self::H3GoAway => text!("cause-h3-go-away"),
            Self::H3Push => text!("cause-h3-push"),
            Self::QpackBlock => text!("cause-header-block", rfc = "RFC 9204"),
            Self::QpackStream => text!("cause-qpack-stream"),
            Self::Quic => text!("cause-quic"),
            Self::QuicVersion => text!("cause-quic-version"),
            Self::QuicMigration => text!("cause-quic-migration"),
            Self::ResetH3NoError => text!("cause-reset", code = "H3_NO_ERROR"),
            Self::ResetH3GeneralProtocolError => {
                text!("cause-reset", code = "H3_GENERAL_PROTOCOL_ERROR")
            }
            Self::ResetH3InternalError => text!("cause-reset", code = "H3_INTERNAL_ERROR"),
            Self::ResetH3StreamCreationError => {
                text!("cause-reset", code = "H3_STREAM_CREATION_ERROR")
            }
            Self::ResetH3ClosedCriticalStream => {
                text!("cause-reset", code = "H3_CLOSED_CRITICAL_STREAM")
            }
            Self::ResetH3FrameUnexpected => text!("cause-reset", code = "H3_FRAME_UNEXPECTED"),
            Self::ResetH3FrameError => text!("cause-reset", code = "H3_FRAME_ERROR"),
            Self::ResetH3ExcessiveLoad => text!("cause-reset", code = "H3_EXCESSIVE_LOAD"),
            Self::ResetH3IdError => text!("cause-reset", code = "H3_ID_ERROR"),
            Self::ResetH3SettingsError => text!("cause-reset", code = "H3_SETTINGS_ERROR"),
            Self::ResetH3MissingSettings => text!("cause-reset", code = "H3_MISSING_SETTINGS"),
            Self::ResetH3RequestRejected => text!("cause-reset", code = "H3_REQUEST_REJECTED"),
            Self::ResetH3RequestCancelled => text!("cause-reset", code = "H3_REQUEST_CANCELLED"),
            Self::ResetH3RequestIncomplete => text!("cause-reset", code = "H3_REQUEST_INCOMPLETE"),
            Self::ResetH3MessageError => text!("cause-reset", code = "H3_MESSAGE_ERROR"),
            Self::ResetH3ConnectError => text!("cause-reset", code = "H3_CONNECT_ERROR"),
            Self::ResetH3VersionFallback => text!("cause-reset", code = "H3_VERSION_FALLBACK"),
            Self::ResetH3Unknown => text!("cause-reset-unknown-h3"),
            Self::ClosedH3GeneralProtocolError => {
                text!("cause-closed", code = "H3_GENERAL_PROTOCOL_ERROR")
            }
            Self::ClosedH3InternalError => text!("cause-closed", code = "H3_INTERNAL_ERROR"),
            Self::ClosedH3StreamCreationError => {
                text!("cause-closed", code = "H3_STREAM_CREATION_ERROR")
            }
            Self::ClosedH3ClosedCriticalStream => {
                text!("cause-closed", code = "H3_CLOSED_CRITICAL_STREAM")
            }
            Self::ClosedH3FrameUnexpected => text!("cause-closed", code = "H3_FRAME_UNEXPECTED"),
            Self::ClosedH3FrameError => text!("cause-closed", code = "H3_FRAME_ERROR"),
            Self::ClosedH3ExcessiveLoad => text!("cause-closed", code = "H3_EXCESSIVE_LOAD"),
            Self::ClosedH3IdError => text!("cause-closed", code = "H3_ID_ERROR"),
            Self::ClosedH3SettingsError => text!("cause-closed", code = "H3_SETTINGS_ERROR"),
            Self::ClosedH3MissingSettings => text!("cause-closed", code = "H3_MISSING_SETTINGS"),
            Self::ClosedH3RequestRejected => text!("cause-closed", code = "H3_REQUEST_REJECTED"),
            Self::ClosedH3RequestCancelled => text!("cause-closed", code = "H3_REQUEST_CANCELLED"),
            Self::ClosedH3RequestIncomplete => {
                text!("cause-closed", code = "H3_REQUEST_INCOMPLETE")
            }
            Self::ClosedH3MessageError => text!("cause-closed", code = "H3_MESSAGE_ERROR"),
            Self::ClosedH3ConnectError => text!("cause-closed", code = "H3_CONNECT_ERROR"),
            Self::ClosedH3VersionFallback => text!("cause-closed", code = "H3_VERSION_FALLBACK"),
            Self::ClosedQpack => text!("cause-closed-qpack"),
            Self::ClosedH3Unknown => text!("cause-closed-unknown-h3"),
            Self::ClosedQuic => text!("cause-closed-quic"),
            Self::ClosedHttp2ProtocolError => text!("cause-closed", code = "PROTOCOL_ERROR"),
            Self::ClosedHttp2InternalError => text!("cause-closed", code = "INTERNAL_ERROR"),
            Self::ClosedHttp2FlowControlError => text!("cause-closed", code = "FLOW_CONTROL_ERROR"),
            Self::ClosedHttp2SettingsTimeout => text!("cause-closed", code = "SETTINGS_TIMEOUT"),
            Self::ClosedHttp2StreamClosed => text!("cause-closed", code = "STREAM_CLOSED"),
            Self::ClosedHttp2FrameSizeError => text!("cause-closed", code = "FRAME_SIZE_ERROR"),
            Self::ClosedHttp2RefusedStream => text!("cause-closed", code = "REFUSED_STREAM"),
            Self::ClosedHttp2Cancel => text!("cause-closed", code = "CANCEL"),
            Self::ClosedHttp2CompressionError => text!("cause-closed", code = "COMPRESSION_ERROR"),
            Self::ClosedHttp2ConnectError => text!("cause-closed", code = "CONNECT_ERROR"),
            Self::ClosedHttp2EnhanceYourCalm => text!("cause-closed", code = "ENHANCE_YOUR_CALM"),
            Self::ClosedHttp2InadequateSecurity => {
                text!("cause-closed", code = "INADEQUATE_SECURITY")
            }
            Self::ClosedHttp2Http11Required => text!("cause-closed", code = "HTTP_1_1_REQUIRED"),
            Self::ClosedHttp2Unknown => text!("cause-closed-unknown-h2"),
        }
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

impl fmt::Display for MalformedReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text())
    }
}

impl Error for MalformedReply {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;
    use crate::tally::sums::kinds;

    #[test]
    fn each_cause_has_a_text_in_each_language() {
        let causes: Vec<MalformedReply> =
            (1..200).filter_map(kinds::MalformedReply::from_number).collect();
        assert!(causes.len() > 110);
        for cause in causes {
            assert_ne!(cause.text().in_language(Language::Chinese), cause.to_string());
        }
    }
}
