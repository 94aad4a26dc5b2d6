//! Requirements of Python distributions. Source: PEP 508, PEP 503 for the names.

use super::statement::Binds;

/// Returns a name with all its separators and cases alike.
pub(super) fn normalised(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for c in name.chars() {
        let c = if matches!(c, '-' | '_' | '.') { '-' } else { c.to_ascii_lowercase() };
        if c != '-' || !plain.ends_with('-') {
            plain.push(c);
        }
    }
    plain
}

/// Returns how a requirement binds `name`; `None` where it is about another distribution.
pub(super) fn binds(requirement: &str, name: &str) -> Option<Binds> {
    let requirement = requirement.trim_start();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = requirement.find(|c| !is_name(c)).unwrap_or(requirement.len());
    if normalised(&requirement[..end]) != normalised(name) {
        return None;
    }
    let rest = requirement[end..].trim_start();
    let rest = match rest.strip_prefix('[').and_then(|extras| extras.split_once(']')) {
        Some((_, behind)) => behind.trim_start(),
        None => rest,
    };
    if rest.starts_with('@') {
        return Some(Binds::Nothing);
    }
    let specifier = rest.split(';').next().unwrap_or_default().trim();
    Some(specified(specifier.trim_start_matches('(').trim_end_matches(')')))
}

/// Returns how a version specifier binds.
pub(super) fn specified(specifier: &str) -> Binds {
    let specifier = specifier.trim();
    if specifier.is_empty() || specifier == "*" {
        return Binds::Nothing;
    }
    let version =
        specifier.strip_prefix("==").map(|rest| rest.trim_start_matches('=').trim_start());
    let is_one = version.is_some_and(|version| {
        version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains([',', '*', '|'])
    });
    if is_one { Binds::Exactly } else { Binds::Loosely("`==VERSION`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_binds_exactly_loosely_or_not_at_all() {
        let of = |requirement| binds(requirement, "ai-simulate");
        for exact in [
            "ai-simulate==1.0.0",
            "AI_Simulate [all] == 1.0.0 ; python_version>'3'",
            "ai.simulate(==1.0.0)",
        ] {
            assert_eq!(of(exact), Some(Binds::Exactly), "{exact}");
        }
        for loose in [
            "ai-simulate>=1.0.0",
            "ai-simulate==1.0.0,!=1.0.1",
            "ai-simulate==1.0.*",
            "ai-simulate~=1.0",
        ] {
            assert_eq!(of(loose), Some(Binds::Loosely("`==VERSION`")), "{loose}");
        }
        for nothing in
            ["ai-simulate", "ai-simulate ; extra == 'x'", "ai-simulate @ git+https://host/x@v1.0.0"]
        {
            assert_eq!(of(nothing), Some(Binds::Nothing), "{nothing}");
        }
        assert_eq!(of("ai-simulate-core==1.0.0"), None);
        assert_eq!(of(""), None);
    }
}
