# An API in the background, for the script that sources this: API_PORT. It is brunt's reference server, so what it takes
# for a request is known: 10 ms on average, exponentially distributed, however many there are at once.
if [ -n "${API_PORT:-}" ]; then
    start "${BRUNT:-brunt}" lab --listen "127.0.0.1:$API_PORT" --service exp:10ms --body 64
fi
