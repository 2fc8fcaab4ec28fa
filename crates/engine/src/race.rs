//! Waiting for whichever of two comes first.

use std::pin::pin;
use std::task::Poll;

/// Which came first.
pub enum First<A, B> {
    /// The first.
    A(A),
    /// The second.
    B(B),
}

/// Waits for whichever of two comes first; the first is preferred, the other is dropped.
pub async fn race<A, B>(a: impl Future<Output = A>, b: impl Future<Output = B>) -> First<A, B> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    std::future::poll_fn(|cx| {
        if let Poll::Ready(x) = a.as_mut().poll(cx) {
            return Poll::Ready(First::A(x));
        }
        b.as_mut().poll(cx).map(First::B)
    })
    .await
}
