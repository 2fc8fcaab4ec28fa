//! Leases for runs of this machine that the studio has started: they ask through the socket in the store, and
//! need no token.

use crate::leases::{HeldLease, LeaseProblem, LeaseRefusal, LeaseRequest};
use crate::shared::Shared;
use crate::token::Token;
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

/// Reply to an order: the lease that was taken or renewed, or nothing for one that was released.
pub type LeaseAnswer = Result<Option<HeldLease>, LeaseProblem>;

/// Answers an order.
pub fn answer(shared: &Shared, order: &str) -> String {
    let result = match serde_json::from_str(order) {
        Ok(LeaseOrder::Take { holder, request }) => match Token::random() {
            Ok(key) => shared.leases().take(&request, &holder, shared.now(), key).map(Some),
            Err(_) => Err(LeaseRefusal::TooMany),
        },
        Ok(LeaseOrder::Renew { holder, key }) => {
            shared.leases().renew(&key, &holder, shared.now()).map(Some)
        }
        Ok(LeaseOrder::Release { holder, key }) => {
            shared.leases().release(&key, &holder).map(|()| None)
        }
        Err(_) => Err(LeaseRefusal::Unknown),
    };
    let answer: LeaseAnswer = result.map_err(LeaseProblem::from);
    serde_json::to_string(&answer).unwrap_or_default()
}
