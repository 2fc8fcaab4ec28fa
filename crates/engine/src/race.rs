//! Waits for the first of two futures.

use std::pin::pin;
use std::task::Poll;

/// The output of the future that was ready first.
pub enum First<A, B> {
    A(A),
    B(B),
}

/// Waits for the first of two futures. If both are ready, `a` is preferred; the
/// other one is dropped.
pub async fn race<A, B>(a: impl Future<Output = A>, b: impl Future<Output = B>) -> First<A, B> {
    let mut a = pin!(a);
    let mut b = pin!(b);
    std::future::poll_fn(|cx| {
        if let Poll::Ready(x) = a.as_mut().poll(cx) {
            return Poll::Ready(First::A(x));
        }
        b.as_mut().poll(cx).map(First::B)
    })
    .await
}
