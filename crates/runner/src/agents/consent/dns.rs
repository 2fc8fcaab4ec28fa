//! Hosts that consent with a TXT record, which the owner of the domain sets.

use hickory_resolver::proto::rr::RData;
use hickory_resolver::{ResolverBuilder, TokioResolver};
use std::net::IpAddr;

/// First label of the record's name (RFC 8552).
const LABEL: &str = "_brunt-consent";

/// Looks for a TXT record of a host that equals the token, with the DNS servers of the system. The error is a clause
/// of a sentence. None: the host is an address.
pub fn ask(host: &str, token: &str) -> Option<Result<(), String>> {
    host.parse::<IpAddr>().is_err().then(|| ask_system(host, token))
}

fn ask_system(host: &str, token: &str) -> Result<(), String> {
    let cannot = |why: String| format!("the DNS cannot be asked ({why})");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| cannot(error.to_string()))?;
    runtime.block_on(async {
        let resolver = TokioResolver::builder_tokio().and_then(ResolverBuilder::build);
        ask_servers(&resolver.map_err(|error| cannot(error.to_string()))?, host, token).await
    })
}

async fn ask_servers(resolver: &TokioResolver, host: &str, token: &str) -> Result<(), String> {
    let host = host.trim_end_matches('.');
    // With its last dot, the name is complete: a search domain speaks for other hosts.
    let name = format!("{LABEL}.{host}.");
    let lookup = match resolver.txt_lookup(name).await {
        Ok(lookup) => lookup,
        Err(error) if error.is_no_records_found() => {
            return Err(format!("{LABEL}.{host} has no TXT record"));
        }
        Err(error) => return Err(format!("{LABEL}.{host} cannot be found ({error})")),
    };
    let has_token = lookup.answers().iter().any(|record| match &record.data {
        // The pieces of one record, each of at most 255 bytes, are one text (RFC 7208, 3.3).
        RData::TXT(text) => text.txt_data.concat() == token.as_bytes(),
        _ => false,
    });
    if has_token {
        Ok(())
    } else {
        Err(format!("{LABEL}.{host} has no TXT record that equals the token"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hickory_resolver::config::{NameServerConfig, ResolverConfig};
    use hickory_resolver::net::runtime::TokioRuntimeProvider;
    use hickory_resolver::proto::op::{Message, ResponseCode};
    use hickory_resolver::proto::rr::rdata::TXT;
    use hickory_resolver::proto::rr::{Name, Record};
    use std::net::{Ipv4Addr, UdpSocket};
    use std::time::Duration;

    /// Asks about a host at a DNS server that knows one name, with these TXT records.
    fn after(known: &str, records: &[&[&str]], host: &str) -> Result<(), String> {
        let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        server.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let port = server.local_addr().unwrap().port();
        let known = Name::from_ascii(known).unwrap();
        let texts: Vec<TXT> = records
            .iter()
            .map(|pieces| TXT::new(pieces.iter().map(|piece| (*piece).to_owned()).collect()))
            .collect();
        let answering = std::thread::spawn(move || {
            let mut packet = [0; 4096];
            let (length, client) = server.recv_from(&mut packet).unwrap();
            let request = Message::from_vec(&packet[..length]).unwrap();
            let query = request.queries[0].clone();
            let mut reply = Message::response(request.metadata.id, request.metadata.op_code);
            if *query.name() == known {
                for text in texts {
                    let name = query.name().clone();
                    reply.add_answer(Record::from_rdata(name, 60, RData::TXT(text)));
                }
            } else {
                reply.metadata.response_code = ResponseCode::NXDomain;
            }
            reply.add_query(query);
            server.send_to(&reply.to_vec().unwrap(), client).unwrap();
        });
        let mut config = NameServerConfig::udp(Ipv4Addr::LOCALHOST.into());
        config.connections[0].port = port;
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![config]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let result = runtime.block_on(async {
            let provider = TokioRuntimeProvider::default();
            let resolver = TokioResolver::builder_with_config(config, provider).build().unwrap();
            ask_servers(&resolver, host, "token-of-ours").await
        });
        answering.join().unwrap();
        result
    }

    #[test]
    fn a_record_that_equals_the_token_is_consent() {
        let name = "_brunt-consent.shop.example.";
        for records in [
            &[&["v=spf1 -all"] as &[&str], &["token-of-ours"]] as &[&[&str]],
            &[&["token-", "of-ours"]],
        ] {
            assert_eq!(after(name, records, "shop.example"), Ok(()), "{records:?}");
        }
    }

    #[test]
    fn another_record_or_none_is_no_consent() {
        let name = "_brunt-consent.shop.example.";
        let other = "_brunt-consent.shop.example has no TXT record that equals the token";
        for records in [&[&["token-of-ours-2"] as &[&str]] as &[&[&str]], &[&["token-", "other"]]] {
            assert_eq!(after(name, records, "shop.example"), Err(other.into()), "{records:?}");
        }
        let tokens: &[&[&str]] = &[&["token-of-ours"]];
        // The record of the host itself is that of another use.
        for (known, host) in [(name, "else.example"), ("shop.example.", "shop.example")] {
            let none = format!("_brunt-consent.{host} has no TXT record");
            assert_eq!(after(known, tokens, host), Err(none));
        }
    }
}
