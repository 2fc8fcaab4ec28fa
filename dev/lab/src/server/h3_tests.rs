//! Tests the refused options of HTTP/3. Its requests are tested with brunt as the client.

use clap::Parser as _;

use crate::args::LabOptions;

#[test]
fn incompatible_options_are_refused() {
    let parsed = |line: &str| {
        let options = LabOptions::try_parse_from(["brunt-lab"].into_iter().chain(line.split(' ')));
        options.map_err(|error| error.to_string()).and_then(|options| options.check())
    };
    assert_eq!(parsed("--tls --http3 --retry --refuse-early-data"), Ok(()));
    assert!(parsed("--http3").unwrap_err().contains("--tls"));
    assert!(
        parsed("--hostile h3-no-reply").unwrap_err().contains("requires HTTP/3; add --tls --http3")
    );
    assert!(parsed("--hostile ws-masked").is_ok() && parsed("--hostile no-frame").is_ok());
    assert!(parsed("--ws-client-bits 9").unwrap_err().contains("--ws-deflate"));
    assert!(parsed("--tls --retry").unwrap_err().contains("--http3"));
    assert!(parsed("--tls --http3 --listen unix:/tmp/x").unwrap_err().contains("needs an address"));
}
