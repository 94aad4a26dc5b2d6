//! From the text of a script to the script.

use crate::diag::{Bag, Code, SourceFile};
use crate::scenario::cursor::{self, View};
use crate::scenario::scalar::Datum;
use crate::scenario::syntax;
use crate::units::Nanos;

use super::table::FILE;
use super::{
    Answer, Fault, FaultKind, LineEnd, Output, Pieces, Refused, Rule, Script, Stall, ToolScript,
    UsageScript, When,
};

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// Everything that is wrong with it, in file order.
    pub fn read(source: &SourceFile) -> Result<Self, Bag> {
        let document = syntax::parse(source)?;
        let mut bag = Bag::new();
        let view = cursor::check(&document, &FILE, &mut bag);
        let script = script(&view, &mut bag);
        match script {
            Some(script) if !bag.has_errors() => Ok(script),
            Some(_) | None => {
                assert!(bag.has_errors(), "bug: a script was refused without a reason");
                Err(bag)
            }
        }
    }
}

/// Decodes a script; `None` where the checker has complained.
fn script(view: &View<'_>, bag: &mut Bag) -> Option<Script> {
    let stall = |stall: &View<'_>| {
        let from = time(stall, "after")?;
        let lasts = time(stall, "lasts")?;
        Some(Stall { from, until: Nanos::new(from.get().saturating_add(lasts.get())) })
    };
    let handshake = view.child("handshake").map(|node| time(node, "delay"));
    let stalls = view.all("stall").map(stall).collect::<Option<_>>()?;
    let rules = view.all("answer").map(|node| rule(node, bag)).collect::<Vec<_>>();
    Some(Script {
        handshake: handshake.unwrap_or(Some(Nanos::ZERO))?,
        stalls,
        rules: rules.into_iter().collect::<Option<_>>()?,
    })
}

/// Decodes an answer and which requests it is for.
fn rule(node: &View<'_>, bag: &mut Bag) -> Option<Rule> {
    let header = match node.text("header") {
        None => None,
        Some(text) => match text.split_once(':') {
            Some((name, value)) if !name.trim().is_empty() => {
                Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            }
            Some(_) | None => {
                let message = format!("`header` is `name: value`, found `{text}`");
                bag.push(node.problem(Code::MockScript, "header", message, "no name and value"));
                None
            }
        },
    };
    let when = When {
        from: node.count("from")?,
        to: node.count("to").unwrap_or(u64::MAX),
        every: node.count("every")?,
        header,
    };
    Some(Rule { when, answer: answer(node, bag)? })
}

/// Decodes an answer.
fn answer(node: &View<'_>, bag: &mut Bag) -> Option<Answer> {
    let at = |name: &str| node.child(name).map(|child| time(child, "AT"));
    let plain = Answer::default();
    let fault = node.child("fault");
    let closes_unanswered = fault.is_some_and(|fault| fault.kind() == Some("unanswered"));
    let lines = node.child("lines");
    Some(Answer {
        closes_unanswered,
        refused: option(node.child("status").map(refused))?,
        headers: at("headers").unwrap_or(Some(Nanos::ZERO))?,
        first: at("first-token").unwrap_or(Some(Nanos::ZERO))?,
        gaps: node.child("gap").map_or(Some(Vec::new()), gaps)?,
        role: option(at("role"))?,
        output: output(node)?,
        usage: option(node.child("usage").map(usage))?.unwrap_or(plain.usage),
        pieces: option(node.child("write").map(pieces))?.unwrap_or(plain.pieces),
        line_end: match lines.and_then(|lines| lines.text("END")) {
            Some("crlf") => LineEnd::CrLf,
            Some("cr") => LineEnd::Cr,
            Some(_) | None => LineEnd::Lf,
        },
        has_space: lines.is_none_or(|lines| lines.flag("space").unwrap_or(true)),
        keep_alive: option(node.child("keep-alive").map(|node| keep_alive(node, bag)))?,
        fault: match fault.filter(|_| !closes_unanswered) {
            Some(fault) => Some(decode_fault(fault)?),
            None => None,
        },
        close_after: option(node.child("close").map(|close| time(close, "after")))?,
        raw: raw(node, bag)?,
    })
}

/// Decodes a refusal.
fn refused(node: &View<'_>) -> Option<Refused> {
    Some(Refused {
        status: u16::try_from(node.count("CODE")?).ok()?,
        retry_after: node.count("retry-after"),
        body: node.text("body").map(str::to_owned),
    })
}

/// Decodes gaps.
fn gaps(node: &View<'_>) -> Option<Vec<Nanos>> {
    let gap = |datum: &Datum| match datum {
        Datum::Real(ms) => Nanos::from_ms(*ms).ok(),
        Datum::Count(_) | Datum::Flag(_) | Datum::Text(_) | Datum::Reals(_) | Datum::Digest(_) => {
            None
        }
    };
    node.rest().iter().map(|(_, datum)| gap(datum)).collect()
}

/// Decodes what the output is.
fn output(node: &View<'_>) -> Option<Output> {
    let mut output = Output::default();
    if let Some(tokens) = node.child("tokens") {
        output.tokens = tokens.count("TOKENS");
        output.per_event = tokens.count("per-event")?;
        output.reasoning = tokens.count("reasoning")?;
        output.finish = tokens.text("finish").map(str::to_owned);
    }
    if let Some(tool) = node.child("tool") {
        output.tool = Some(ToolScript {
            name: tool.text("NAME")?.to_owned(),
            arguments: tool.text("ARGUMENTS")?.to_owned(),
        });
    }
    Some(output)
}

/// Decodes what is counted.
fn usage(node: &View<'_>) -> Option<UsageScript> {
    let cached = node.count("cached")?;
    match node.text("WHEN")? {
        "asked" => Some(UsageScript::Asked { cached }),
        "always" => Some(UsageScript::Always { cached }),
        "every-event" => Some(UsageScript::EveryEvent { cached }),
        "never" => Some(UsageScript::Never),
        _ => None,
    }
}

/// Decodes how bytes are written.
fn pieces(node: &View<'_>) -> Option<Pieces> {
    let count = node.count("COUNT")?;
    match node.kind()? {
        "events" => Some(Pieces::Events(count)),
        "bytes" => {
            Some(Pieces::Bytes { size: usize::try_from(count).ok()?, gap: time(node, "gap")? })
        }
        _ => None,
    }
}

/// Decodes comments; without a pause between two nothing else would ever be written.
fn keep_alive(node: &View<'_>, bag: &mut Bag) -> Option<(Nanos, String)> {
    let every = time(node, "every")?;
    if every == Nanos::ZERO {
        let message = "`every` is a duration above 0".to_owned();
        bag.push(node.problem(Code::MockScript, "every", message, "no pause"));
        return None;
    }
    Some((every, node.text("text")?.to_owned()))
}

/// Decodes what goes wrong.
fn decode_fault(node: &View<'_>) -> Option<Fault> {
    let message = || node.text("message").map(str::to_owned);
    let kind = match node.kind()? {
        "cut" => FaultKind::Cut,
        "end" => FaultKind::End,
        "stall" => FaultKind::Stall(time(node, "lasts")?),
        "error" => match node.text("form")? {
            "text" => FaultKind::ErrorText(message()?),
            "event" => FaultKind::ErrorEvent(message()?),
            _ => FaultKind::Error(message()?),
        },
        _ => return None,
    };
    Some(Fault { after: node.count("after")?, kind })
}

/// Decodes what is written as it is, in file order.
fn raw(node: &View<'_>, bag: &mut Bag) -> Option<Vec<Vec<u8>>> {
    let mut raw = Vec::new();
    for child in node.children() {
        match child.name() {
            "raw" => raw.push(child.text("TEXT")?.as_bytes().to_vec()),
            "raw-hex" => {
                let Some(bytes) = bytes(child.text("BYTES")?) else {
                    let message = "bytes are two hexadecimal digits each".to_owned();
                    bag.push(child.problem(Code::MockScript, "BYTES", message, "no bytes"));
                    return None;
                };
                raw.push(bytes);
            }
            _ => {}
        }
    }
    Some(raw)
}

/// Returns bytes from their hexadecimal digits; spaces between them mean nothing.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|digit| !digit.is_whitespace())
        .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    pairs.remainder().is_empty().then(|| pairs.map(|pair| pair[0] * 16 + pair[1]).collect())
}

/// Returns a duration of a field.
fn time(node: &View<'_>, field: &str) -> Option<Nanos> {
    Nanos::from_ms(node.real(field)?).ok()
}

/// Returns nothing where nothing stands there, and fails where what stands there was refused.
#[expect(clippy::option_option, reason = "absent and refused are two things")]
fn option<T>(stated: Option<Option<T>>) -> Option<Option<T>> {
    match stated {
        None => Some(None),
        Some(Some(value)) => Some(Some(value)),
        Some(None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Script, Vec<String>> {
        Script::read(&SourceFile::new("script.kdl", text)).map_err(|bag| {
            bag.into_sorted().iter().map(|problem| problem.message().to_owned()).collect()
        })
    }

    fn ms(ms: u64) -> Nanos {
        Nanos::new(ms * 1_000_000)
    }

    #[test]
    fn a_script_states_delays_and_faults_by_request() {
        let script = read(
            "handshake delay=\"50ms\"\n\
             stall after=\"1s\" lasts=\"2s\"\n\
             answer from=3 to=5 every=2 header=\"X-Case: a: b\" { status 429 retry-after=1; }\n\
             answer {\n  first-token \"250ms\"\n  gap \"400ms\" \"100ms\"\n  tokens 3 per-event=2 reasoning=1\n\
             write \"bytes\" 1 gap=\"10us\"\n  lines \"crlf\" space=#false\n  fault \"cut\" after=2\n  close after=\"5ms\"\n}\n",
        )
        .expect("a script");
        assert_eq!(script.handshake, ms(50));
        assert_eq!(script.stalls, [Stall { from: ms(1000), until: ms(3000) }]);
        let when = &script.rules[0].when;
        assert_eq!((when.from, when.to, when.every), (3, 5, 2));
        assert_eq!(when.header, Some(("x-case".to_owned(), "a: b".to_owned())));
        let refused = script.rules[0].answer.refused.as_ref().expect("refused");
        assert_eq!((refused.status, refused.retry_after), (429, Some(1)));
        let answer = &script.rules[1].answer;
        assert_eq!((answer.first, answer.gaps.as_slice()), (ms(250), &[ms(400), ms(100)][..]));
        assert_eq!((answer.output.tokens, answer.output.per_event), (Some(3), 2));
        assert_eq!(answer.pieces, Pieces::Bytes { size: 1, gap: Nanos::new(10_000) });
        assert_eq!((answer.line_end, answer.has_space), (LineEnd::CrLf, false));
        assert_eq!(answer.fault, Some(Fault { after: 2, kind: FaultKind::Cut }));
        assert_eq!(answer.close_after, Some(ms(5)));
    }

    #[test]
    fn raw_text_and_raw_bytes_keep_their_order() {
        let script = read("answer { raw \"a\"; raw-hex \"ff fe\"; raw \"b\"; }").expect("a script");
        assert_eq!(script.rules[0].answer.raw, [b"a".to_vec(), vec![0xff, 0xfe], b"b".to_vec()]);
    }

    #[test]
    fn every_mistake_of_a_script_is_told() {
        let told = read(
            "answer header=\"nothing\" { raw-hex \"f\"; }\nanswer { keep-alive every=\"0ms\"; }\nansver\n",
        )
        .expect_err("refused");
        assert_eq!(told.len(), 4, "{told:?}");
    }

    #[test]
    fn an_empty_script_is_a_server_that_answers_at_once() {
        assert!(read("").expect("a script").rules.is_empty());
    }
}
