//! Stores the requests of a scenario, which all copies of a plan share.

use crate::Request;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Requests that steps choose from. Clones share the list, because it may have 100,000 URLs and a
/// run stores its plan several times. The first change of a clone copies the list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestList(Arc<Vec<Request>>);

impl RequestList {
    /// Changes each request. If no request differs afterwards, the list stays shared.
    pub fn change_each(&mut self, mut change: impl FnMut(&mut Request)) {
        for number in 0..self.len() {
            let mut request = self[number].clone();
            change(&mut request);
            // The first assignment copies the list, so unchanged requests are not assigned.
            if request != self[number] {
                self[number] = request;
            }
        }
    }
}

impl Deref for RequestList {
    type Target = Vec<Request>;

    fn deref(&self) -> &Vec<Request> {
        &self.0
    }
}

impl DerefMut for RequestList {
    fn deref_mut(&mut self) -> &mut Vec<Request> {
        Arc::make_mut(&mut self.0)
    }
}

impl From<Vec<Request>> for RequestList {
    fn from(mut requests: Vec<Request>) -> Self {
        // A list that was read one by one has spare capacity, and lives as long as the run.
        requests.shrink_to_fit();
        Self(Arc::new(requests))
    }
}

impl FromIterator<Request> for RequestList {
    fn from_iter<I: IntoIterator<Item = Request>>(requests: I) -> Self {
        Vec::from_iter(requests).into()
    }
}

impl<'a> IntoIterator for &'a RequestList {
    type Item = &'a Request;
    type IntoIter = std::slice::Iter<'a, Request>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl Serialize for RequestList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RequestList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_is_shared_until_it_is_changed() {
        let list: RequestList = ["/a", "/b"].into_iter().map(Request::get).collect();
        let mut other = list.clone();
        other.change_each(|request| request.weight = 1);
        assert!(std::ptr::eq(&raw const list[0], &raw const other[0]));
        other.change_each(|request| request.weight += u32::from(request.url == "/b"));
        assert!(!std::ptr::eq(&raw const list[0], &raw const other[0]));
        assert_eq!((list[1].weight, other[1].weight), (1, 2));
        let json = serde_json::to_string(&other).unwrap();
        assert_eq!(json, serde_json::to_string(&*other).unwrap());
        assert_eq!(serde_json::from_str::<RequestList>(&json).unwrap(), other);
    }
}
