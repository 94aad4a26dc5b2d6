//! Job ids as paths, and names as file names.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::digest::Sha256;
use crate::plan::JobId;

/// What a file name may hold beside letters and digits.
const AWKWARD: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'=')
    .remove(b',')
    .remove(b'+')
    .remove(b'@');

/// The longest file name that every common file system takes, less what a temporary name adds.
const LONGEST: usize = 200;

/// Returns a name as one file name: other bytes percent-encoded; a long one is cut and ends in its digest.
pub fn file_name(name: &str) -> String {
    let encoded = match name {
        "" => "%".to_owned(),
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        plain => utf8_percent_encode(plain, AWKWARD).to_string(),
    };
    if encoded.len() <= LONGEST {
        return encoded;
    }
    format!("{}~{}", &encoded[..LONGEST - 13], Sha256::of(name.as_bytes()).short())
}

/// Returns the folder of a job relative to the run folder, with `/`.
pub fn job_folder(id: &JobId) -> String {
    let segments: Vec<String> = id.as_str().split('/').map(file_name).collect();
    format!("jobs/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_ids_stay_readable_and_awkward_bytes_are_encoded() {
        let folder = |id: &str| job_folder(&JobId::new(id));
        assert_eq!(
            folder("routing/chat/replicas=2,router=kv"),
            "jobs/routing/chat/replicas=2,router=kv"
        );
        assert_eq!(folder("a b/é\\:*"), "jobs/a%20b/%C3%A9%5C%3A%2A");
        assert_eq!(folder(".././/x"), "jobs/%2E%2E/%2E/%/x");
    }

    #[test]
    fn different_long_names_stay_different() {
        let (a, b) = (file_name(&"x".repeat(300)), file_name(&"x".repeat(301)));
        assert_ne!(a, b);
        assert!(a.len() <= LONGEST && b.len() <= LONGEST);
    }
}
