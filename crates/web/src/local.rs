//! Leases for runs of this machine that the studio has started: they ask through the socket in the store, and
//! need no token.

use crate::leases::{HeldLease, LeaseRefusal, LeaseRequest};
use crate::shared::Shared;
use crate::token::Token;
use brunt_engine::clock::unix_seconds;
use serde::{Deserialize, Serialize};

/// Word before an order about a lease.
pub const LEASE: &str = "lease ";

/// An order of a run about its lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseOrder {
    /// Takes a lease.
    Take {
        /// Name of the visitor that started the run.
        holder: String,
        /// The servers.
        request: LeaseRequest,
    },
    /// Renews a lease.
    Renew {
        /// Name of the visitor that started the run.
        holder: String,
        /// Key of the lease.
        key: String,
    },
    /// Releases a lease.
    Release {
        /// Name of the visitor that started the run.
        holder: String,
        /// Key of the lease.
        key: String,
    },
}

/// Reply to an order. The lease is that of the holder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LeaseAnswer {
    /// The lease that was taken or renewed.
    pub lease: Option<HeldLease>,
    /// Reason of a refusal.
    pub error: Option<String>,
    /// True if another lease has one of the servers, so that waiting helps.
    pub is_held: bool,
    /// True if there is no lease with the key.
    pub is_unknown: bool,
}

/// Answers an order.
pub fn answer(shared: &Shared, order: &str) -> String {
    let result = match serde_json::from_str(order) {
        Ok(LeaseOrder::Take { holder, request }) => match Token::random() {
            Ok(key) => shared.leases().take(&request, &holder, unix_seconds(), key).map(Some),
            Err(_) => Err(LeaseRefusal::TooMany),
        },
        Ok(LeaseOrder::Renew { holder, key }) => {
            shared.leases().renew(&key, &holder, unix_seconds()).map(Some)
        }
        Ok(LeaseOrder::Release { holder, key }) => {
            shared.leases().release(&key, &holder).map(|()| None)
        }
        Err(_) => Err(LeaseRefusal::Unknown),
    };
    let answer = match result {
        Ok(lease) => LeaseAnswer { lease, ..LeaseAnswer::default() },
        Err(refusal) => LeaseAnswer {
            is_held: matches!(refusal, LeaseRefusal::Held { .. }),
            is_unknown: refusal == LeaseRefusal::Unknown,
            error: Some(refusal.to_string()),
            lease: None,
        },
    };
    serde_json::to_string(&answer).unwrap_or_default()
}
