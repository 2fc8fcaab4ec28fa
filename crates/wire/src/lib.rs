//! Bytes to replies: HTTP/1.1, TLS, proxies, resolving, dialling.
