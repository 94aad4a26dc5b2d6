//! What people write into files and mean for nobody else: findings show their lines, and these parts of them with stars in their place.

/// Headers that hold secrets, in lower case.
const HEADERS: [&str; 5] =
    ["api-key", "authorization", "cookie", "proxy-authorization", "x-api-key"];

/// The property that takes the name of a variable; what is no such name is most often the key itself.
const VARIABLE: &str = "api-key-env";

/// Returns whether a header of this name holds a secret.
pub fn is_secret_header(name: &str) -> bool {
    HEADERS.iter().any(|secret| name.eq_ignore_ascii_case(secret))
}

/// Returns a text with stars in the place of each byte of a secret, so that every other byte stands where it stood; `None` where it has
/// no secret.
///
/// Secrets are the user and the password of a URL (also without its scheme), the value of a header that holds a secret, and a key that
/// stands where the name of its variable belongs.
pub(super) fn hidden(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let ranges = credentials(text).chain(values(text));
    for range in ranges {
        bytes[range].fill(b'*');
    }
    let is_changed = bytes != text.as_bytes();
    // Ranges end at characters of ASCII: whole characters have become stars.
    is_changed.then(|| String::from_utf8(bytes).expect("whole characters were replaced"))
}

type Range = std::ops::Range<usize>;

/// Returns where users and passwords of URLs stand.
fn credentials(text: &str) -> impl Iterator<Item = Range> + '_ {
    words(text).filter_map(|word| {
        let told = &text[word.clone()];
        let end = told.rfind('@')?;
        let (scheme, begin) = match told[..end].find("://") {
            Some(at) => (true, at + 3),
            None => (false, 0),
        };
        let is_secret = scheme || told[begin..end].contains(':');
        is_secret.then(|| word.start + begin..word.start + end)
    })
}

/// Returns where words stand: what lies between white space, quotes and backticks. A quote behind a backslash ends none.
fn words(text: &str) -> impl Iterator<Item = Range> + '_ {
    let mut from = 0;
    let ends = text.char_indices().filter(|(at, found)| {
        found.is_whitespace() || *found == '`' || (*found == '"' && !text[..*at].ends_with('\\'))
    });
    let ends = ends.map(|(at, found)| (at, at + found.len_utf8()));
    ends.chain([(text.len(), text.len())]).map(move |(end, next)| {
        let word = from.min(end)..end;
        from = next;
        word
    })
}

/// Returns where values stand that are secret by their name.
fn values(text: &str) -> impl Iterator<Item = Range> + '_ {
    let lower = text.to_ascii_lowercase();
    let names = HEADERS.into_iter().chain([VARIABLE]);
    let found: Vec<Range> = names
        .flat_map(|name| {
            let ends = lower.match_indices(name).map(|(at, name)| at + name.len());
            let value = |end| value(&text[end..]).map(|range| end + range.start..end + range.end);
            let is_secret = move |range: &Range| name != VARIABLE || !is_name(&text[range.clone()]);
            ends.filter_map(value).filter(is_secret).collect::<Vec<_>>()
        })
        .collect();
    found.into_iter()
}

/// Returns where the value stands that follows a name, on the same line: quoted, or behind `=` alone.
fn value(rest: &str) -> Option<Range> {
    let line = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
    let behind = line.trim_start_matches(['"', '\'']);
    let found = behind.trim_start_matches([' ', '\t', '=', ':', '#']);
    if found.len() == behind.len() {
        return None; // another name begins like this one
    }
    let is_stated = behind[..behind.len() - found.len()].contains('=');
    let begin = line.len() - found.len();
    if let Some(quoted) = found.strip_prefix('"') {
        let end = quoted
            .char_indices()
            .find(|(at, end)| *end == '"' && !quoted[..*at].ends_with('\\'))
            .map_or(quoted.len(), |(at, _)| at);
        return Some(begin + 1..begin + 1 + end);
    }
    let end = found.find([' ', '\t', ';', '{', '}']).unwrap_or(found.len());
    is_stated.then_some(begin..begin + end)
}

/// Returns whether a text is the name of an environment variable.
fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is shown of a text.
    fn shown(text: &str) -> String {
        let found = hidden(text).unwrap_or_else(|| text.to_owned());
        assert_eq!(found.len(), text.len(), "{text}");
        found
    }

    #[test]
    fn users_and_passwords_of_urls_are_starred_however_odd_they_are() {
        for (text, expected) in [
            ("`http://me:pä@h:3128` is no proxy", "`http://******@h:3128` is no proxy"),
            (r#"proxy="http://a:b@h" x"#, r#"proxy="http://***@h" x"#),
            (r#""http://a:b@c/d\"@h""#, r#""http://*********@h""#),
            (r#"proxy="me:word@h:1""#, r#"proxy="*******@h:1""#),
            ("socks5://u@h", "socks5://*@h"),
        ] {
            assert_eq!(shown(text), expected);
        }
        for text in ["ada@example.com", "http://h:1/v1", "a: b@c", "你 @", ""] {
            assert_eq!(hidden(text), None, "{text}");
        }
    }

    #[test]
    fn keys_in_the_place_of_names_and_values_of_secret_headers_are_starred() {
        for (text, expected) in [
            (r#"api-key-env="sk-1" x=1"#, r#"api-key-env="****" x=1"#),
            ("api-key-env=sk-1 {", "api-key-env=**** {"),
            (r##"api-key-env=#"sk-1"# {"##, r##"api-key-env=#"****"# {"##),
            (r#"header "Authorization" "Bearer é""#, r#"header "Authorization" "*********""#),
            (r#"header "x-api-key" "k\"k""#, r#"header "x-api-key" "****""#),
            ("header authorization \"k", "header authorization \"*"),
        ] {
            assert_eq!(shown(text), expected);
        }
        for text in [
            r#"api-key-env="OPENAI_API_KEY""#,
            "the authorization of a request",
            "`api-key-env` is the name of a variable",
            "authorization\n\"x\"",
        ] {
            assert_eq!(hidden(text), None, "{text}");
        }
    }
}
