### Texts that logs keep in English, and that pages show in the language of their reader: warnings, causes of protocol
### errors, and conditions of failed checks. Of several messages that fit a text, the first one is taken. The
### attributes of `warning-part` are the texts of the argument `part` of warnings, and so on.

## Warnings

warning-part-replaced = another process took the place of { $part }: it carries out its share of the load from { $seconds } s on
warning-part-lost = { $end }: from { $seconds } s on its share of the load is missing, and its requests in flight count as cut
warning-end =
    .early = { $part } ended before its time ({ $why })
warning-part =
    .agent = agent { $name }
    .process = process { $number } of { $count }
warning-labels = more than { $limit } labels: the rest are summed under { $other }; see --labels
warning-samples-discarded = INCOMPLETE: { $count } single samples of an agent are missing, because its connection to brunt was too slow for them; no other figure is affected
warning-probe-silent = probe { $source }: { $why }; it is asked again, and its readings are missing until then
warning-probe-answers = probe { $source } answers again
warning-probe-no-thread = no thread to take readings of the server: { $why }
warning-server-unkillable = the server of { $contender } could not be killed: the kernel still holds a process of it
warning-server-killed = the server of { $contender } had not ended { $seconds } s after it was asked to; it was killed
warning-log-incomplete = { $path }: the event log is incomplete: { $why }
warning-samples-file = { $path } cannot be written: { $why }; later samples are missing in it
warning-figures-late = { $system } did not take the last figures of the run within { $seconds } s; { $lost } of { $all } lines were not delivered
warning-figures-lost = { $lost } of { $all } lines of figures did not reach { $system }: { $why }
warning-lease-lost = the lease was not renewed, and the run continued: { $why }
warning-not-leased = servers whose names have variables are known only during the run, and are not leased
warning-not-stored-experiment = this experiment is not stored: { $why }
warning-not-stored-run = this run is not stored: { $why }; use another directory with --store DIR
warning-stopped = the experiment was stopped: { $why }
warning-log-skipped = skipped { $count } events of the log of a kind unknown to this version of brunt; a later version wrote them
warning-no-match = `{ $label }`: the extractor of `{ $variable }` ({ $search }) matched nothing in { $replies }; --trace shows the searched text
warning-replies =
    .one = 1 sample
    .several = { $count } samples
warning-until = --until was not reached: { $progress }; raise --max-duration
warning-pattern-stopped = the regular expression `{ $pattern }` took too long and was stopped; make it simpler: from then on it matched nothing
warning-pattern-overlong = the matches of the regular expression `{ $pattern }` were longer than 64 MiB; further matches were omitted: make it match less
warning-until-reached = --until was reached after { $seconds } s: { $progress }
warning-unsteady = --warmup auto: no steady state within the longest warm-up; the figures describe a transition
warning-steady = --warmup auto: steady from { $cut } s on, found at { $seconds } s ({ $method })
warning-stage-setup = setup: { $warning }
warning-stage-teardown = teardown: { $warning }

## Causes of protocol errors

cause-status-line = the status line is not HTTP/1.x
cause-header-field = a header field is malformed
cause-too-many-fields = more than 1024 header fields (limit of brunt)
cause-head-too-large = the head is larger than 64 kB (limit of brunt)
cause-too-many-interim = too many interim (1xx) replies before the final one (limit of brunt)
cause-content-length = Content-Length is not one number of bytes
cause-transfer-encoding = Transfer-Encoding is unknown, or continues after chunked
cause-chunk = the chunked framing of the body is malformed
cause-chunk-line-too-long = the line before a chunk is longer than 4 kB (limit of brunt)
cause-trailers-too-large = the trailers after the body are larger than 64 kB (limit of brunt)
cause-http1-reply = the server answered in HTTP/1, not in HTTP/2
cause-preface = the first frame is not SETTINGS (RFC 9113 section 3.4)
cause-frame-size = a frame has a size that it may not have (RFC 9113 section 4.2)
cause-header-block = the compressed header fields cannot be decoded ({ $rfc })
cause-continuation = a header block is interrupted, or was never begun (RFC 9113 section 6.10)
cause-stream-state = a frame is on a stream where it may not be ({ $rfc })
cause-padding = a frame is shorter than its padding (RFC 9113 section 6.1)
cause-settings = a setting has a value that it may not have (RFC 9113 section 6.5.2)
cause-flow-control = a window is changed by 0, or beyond its limit (RFC 9113 section 6.9)
cause-push = a push was promised though pushes are off (RFC 9113 section 8.4)
cause-go-away = a GOAWAY names a later stream than the one before (RFC 9113 section 6.8)
cause-pseudo-header = the status is missing or misplaced, or trailers are wrong (RFC 9113 section 8.3.2, RFC 9114 section 4.3.2)
cause-data-before-head = the body came before the head (RFC 9113 section 8.1, RFC 9114 section 4.1)
cause-header-list-too-large = the request's header fields are larger than the server allows (SETTINGS_MAX_HEADER_LIST_SIZE, RFC 9113 section 6.5.2)
cause-tls-certificate-required = the server requires a client certificate (alert certificate_required); add --cert FILE --key FILE
cause-tls-alert = the server ended TLS with an alert after the handshake; look at the server's log
cause-web-socket-frame = a WebSocket frame breaks a rule of framing, close codes or UTF-8 (RFC 6455 sections 5, 7.4 and 8.1)
cause-grpc-status = the reply of gRPC has no grpc-status
cause-body-length = the length of the body differs from Content-Length (RFC 9113 section 8.1.1, RFC 9114 section 4.1.2)
cause-control-frames = the server sends SETTINGS or PING without end (limit of brunt)
cause-h3-frame = a frame has a wrong length, or its stream ends in it (RFC 9114 section 7.1)
cause-h3-settings = settings are missing, come twice, or have a wrong value (RFC 9114 section 7.2.4)
cause-h3-critical-stream = a control stream ended, or was opened twice (RFC 9114 section 6.2)
cause-h3-go-away = a GOAWAY names no request, or a later one than before (RFC 9114 section 5.2)
cause-h3-push = a push came that was not allowed (RFC 9114 section 4.6)
cause-qpack-stream = an instruction of QPACK is wrong (RFC 9204 section 4.3)
cause-quic = the server broke a rule of QUIC (RFC 9000)
cause-quic-version = the server offers no version of QUIC that brunt speaks (RFC 9000 section 6)
cause-quic-migration = the server forbids connection migration (disable_active_migration, RFC 9000 section 18.2)
cause-reset-unknown-h3 = the stream was reset with an unknown code of HTTP/3
cause-reset-unknown = the stream was reset with an unknown code
cause-reset = the stream was reset with { $code }
cause-closed-unknown-h3 = the server closed the connection with an unknown code of HTTP/3
cause-closed-qpack = the server closed the connection with an error of QPACK
cause-closed-quic = the server closed the connection with an error of QUIC (RFC 9000 section 20.1)
cause-closed = the server closed the connection with { $code }

## Conditions of checks

condition-not = not { $condition }
condition-time = time at most { $millis } ms
condition-length = length { $bytes } bytes, as in the first reply
condition-size = size of the { $part } { $sign } { $bytes } bytes
condition-xml = body is XML
condition-md5 = MD5 sum of the body is { $sum }
condition-null = { $part } is null
condition-not-equal = { $part } is not { $values }
condition-equal = { $part } is { $values }
condition-lacks = { $part } does not contain { $values }
condition-contains = { $part } contains { $values }
condition-no-match = { $part } does not match { $values }
condition-match = { $part } matches { $values }
condition-status = status { $statuses }
condition-statuses =
    .below = below { $status }
    .range = { $least } to { $most }
condition-values =
    .or = { $values } or `{ $last }`
    .and = { $values } and `{ $last }`
condition-part =
    .request-headers = request headers
    .request-body = request body
    .request = request
    .reply = reply
    .body = body
    .headers = headers
    .message = status text
    .status = status
    .variable = variable { $name }
condition-found =
    .no-match = no match
    .nothing = nothing
    .no-json = the body is not JSON
