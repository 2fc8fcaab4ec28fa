### Kinds of failures. A meaning and a remedy are attributes of the name.

failure-resolve = name not resolved
    .meaning = the host's name has no address
    .remedy = check the spelling, or give the address with --resolve host:port:addr

failure-refused = connection refused
    .meaning = no process listens on this port
    .remedy = is the server running, and on this port? Under load: its accept queue is full and tcp_abort_on_overflow is set

failure-unreachable = unreachable
    .meaning = no route to the server, or a firewall rejected the connection
    .remedy = check the address, the route and the firewall

failure-connect-timeout = connect timeout
    .meaning = connecting timed out
    .remedy = the server's accept queue may be full (its backlog, net.core.somaxconn) or a firewall drops packets; see --connect-timeout

failure-tls = TLS handshake failed
    .meaning = the TLS handshake failed
    .remedy = check the certificate (--cacert FILE, or --insecure), the name (--sni) and the versions the server speaks

failure-proxy = proxy error
    .meaning = the proxy cannot be reached, or refused to connect
    .remedy = check that the proxy of --proxy runs and permits this target

failure-reset = connection reset
    .meaning = the server reset the connection before a whole reply came
    .remedy = check the server's error log: possible causes are a crash, a limit or a full accept queue

failure-stale = stale connection
    .meaning = the server closed the kept-alive connection when it was used again
    .remedy = raise the server's keep-alive timeout and request limit, or ask again with --retry-stale, as browsers do

failure-timeout = response timeout
    .meaning = no whole reply within the timeout
    .remedy = the server is overloaded or hangs; --timeout sets how long to wait

failure-protocol = protocol error
    .meaning = the reply is not valid in this version of HTTP
    .remedy = does the server speak this version of HTTP on this port (--http), and not TLS?

failure-closed-early = closed early
    .meaning = the connection ended before the whole reply had arrived
    .remedy = check the server's error log: possible causes are a dying worker, or a limit on time or size

failure-check = check failed
    .meaning = a whole reply came, but not the one expected
    .remedy = look at a reply with curl; see --expect-status, --expect-body, --expect-same-length

failure-fds-exhausted = out of file descriptors
    .meaning = the process reached its limit on open files
    .remedy = raise the limit (ulimit -n, LimitNOFILE=) or use fewer connections

failure-ports-exhausted = out of local ports
    .meaning = no free local port left
    .remedy = reuse connections, add --source addresses, widen net.ipv4.ip_local_port_range, or wait for TIME_WAIT to pass

failure-dropped = dropped
    .meaning = due by the schedule, but never begun
    .remedy = the server is slower than the load: lower --rate, or raise --max-in-flight or --connections

failure-cut = cut off
    .meaning = not finished when the run ended
    .remedy = a longer --grace lets them finish

failure-system = local error
    .meaning = brunt could not build the request, or this machine could not send it; a warning gives the reason
    .remedy = read the warning with the reason

failure-stream-reset = stream reset
    .meaning = the server reset the stream before a whole reply came
    .remedy = check the server's error log; the code of the reset is shown with it

failure-unprocessed = not processed
    .meaning = the server refused the stream, or ended the connection before it, twice
    .remedy = raise the server's limits on streams and on requests per connection (nginx: http2_max_concurrent_streams, keepalive_requests)

failure-not-allowed = target not allowed
    .meaning = the host is not among the allowed targets
    .remedy = if it may be loaded, allow it with --allow-target HOST, or `allow: [HOST]` in a plan file; a warning names the host

failure-deadline-exceeded = grpc 4 DEADLINE_EXCEEDED
    .meaning = the deadline of the call passed, by brunt's clock or the server's
    .remedy = the server is overloaded or hangs; --timeout sets the deadline
