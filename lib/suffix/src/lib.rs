//! Public suffixes of domain names, from Mozilla's Public Suffix List.
//!
//! It is a crate because the list is 11,600 generic functions, and each caller compiles all of them.

/// True if a domain is a public suffix, such as `co.uk`, below which anyone can have a name.
pub fn is_public_suffix(domain: &str) -> bool {
    psl::suffix_str(domain) == Some(domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_distinguished_from_names_below_them() {
        assert!(is_public_suffix("co.uk") && is_public_suffix("com"));
        assert!(!is_public_suffix("example.co.uk") && !is_public_suffix("example.com"));
    }
}
