//! What is asked.

use super::values::{self, Data, defaulted, secrets};
use crate::defaults;
use brunt_model::scenario::Order;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;

/// What is asked.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Request")]
pub struct RequestArgs {
    #[arg(short = 'X', long, value_name = "METHOD", value_parser = values::method)]
    #[arg(help = defaulted("Method", &format!("{}, or {} with --data or --form", defaults::METHOD, defaults::METHOD_WITH_BODY)))]
    pub method: Option<String>,

    /// A header, or those of FILE, one a line; repeatable. `${env:NAME}` is filled in from the environment, here and in
    /// --basic, --bearer, --cookie, --data, --form and URLs
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE|@FILE", value_parser = secrets::headers)]
    pub headers: Vec<Vec<(String, String)>>,

    /// Headers from FILE, one a line; repeatable. A secret in a file is not seen in `ps`
    #[arg(long = "header-file", value_name = "FILE", value_parser = secrets::header_file)]
    pub header_files: Vec<Vec<(String, String)>>,

    /// Body: TEXT, or the content of FILE (- is standard input); a form unless -H tells its type
    #[arg(long, value_name = "TEXT|@FILE", value_parser = values::data, conflicts_with = "form")]
    pub data: Option<Data>,

    /// Body: a field of a form, encoded; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = secrets::field)]
    pub form: Vec<(String, String)>,

    /// A cookie, or those of FILE; repeatable
    #[arg(long = "cookie", value_name = "NAME=VALUE|@FILE", value_parser = secrets::cookie)]
    pub cookies: Vec<String>,

    /// Name and password, or the content of FILE; sent with every request
    #[arg(long, value_name = "USER:PASS|@FILE", value_parser = secrets::basic, conflicts_with = "bearer")]
    pub basic: Option<(String, String)>,

    /// Bearer token, or the content of FILE; sent with every request
    #[arg(long, value_name = "TOKEN|@FILE", value_parser = secrets::bearer)]
    pub bearer: Option<String>,

    #[arg(long, value_name = "TEXT", value_parser = values::text)]
    #[arg(help = defaulted("User-Agent header", defaults::USER_AGENT))]
    pub user_agent: Option<String>,

    /// Ask for compressed replies (gzip, deflate)
    #[arg(long)]
    pub compressed: bool,

    /// URLs, one a line; also `URL POST data`, `[3] URL` for a weight, /path at the server of URL
    #[arg(long, value_name = "FILE")]
    pub urls: Option<PathBuf>,

    /// Which URL of --urls is next
    #[arg(long, value_name = "ORDER", default_value = defaults::ORDER, requires = "urls", value_parser = order())]
    pub order: Order,

    /// Redirects followed for one request, at most
    #[arg(long, value_name = "N", default_value = defaults::FOLLOW)]
    pub follow: u32,
}

/// Which URL of a list is next, by the words for it.
const ORDERS: [(&str, Order); 4] = [
    ("sequence", Order::Sequence),
    ("random", Order::Random),
    ("walk", Order::Walk),
    ("walk_together", Order::WalkTogether),
];

fn order() -> impl TypedValueParser<Value = Order> {
    PossibleValuesParser::new(ORDERS.map(|row| row.0))
        .map(|word| ORDERS.iter().find(|row| row.0 == word).map_or(Order::Sequence, |row| row.1))
}
