//! `requests`.

use std::collections::BTreeMap;

use crate::deployment::Workers;
use crate::diag::Code;
use crate::units::Tokens;
use crate::workload::{RankPins, RawRequest, RequestList, StatedRequest};

use super::super::decoder::{Fields, Real, Report, Whole};
use super::super::field::{Field, not_covered, nullable, value};
use super::document::{ranks_of, refuse};
use crate::scenario::written::Data;

/// Fields of a request; others are ignored.
const REQUEST: &[Field] = &[
    value("id"),
    value("arrival_time_ms"),
    value("input_tokens"),
    nullable("input_token_ids"),
    value("output_tokens"),
    nullable("output_token_ids"),
    nullable("dp_rank"),
    nullable("prefill_dp_rank"),
    not_covered("kv_hints"),
    nullable("session_id"),
    nullable("turn_index"),
    nullable("metadata"),
];
/// The fields without a default.
const REQUIRED: [&str; 4] = ["id", "arrival_time_ms", "input_tokens", "output_tokens"];
/// Fields of `metadata` that a router reads; others are ignored.
const METADATA: &[Field] = &[value("priority"), value("strict_priority"), nullable("policy_class")];

/// Returns the requests; nothing where one is wrong. `workers` are those that ranks are counted in, where they are known.
pub(super) fn decode(
    spec: &Fields<'_>,
    workers: Option<&Workers>,
    report: &mut Report,
) -> Option<RequestList> {
    if !spec.states("requests") {
        spec.missing("requests", "a specification states them one by one", report);
        return None;
    }
    let items = spec.items("requests", report)?;
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut raw = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let path = format!("requests[{index}]");
        let fields = Fields::open_lenient(item, REQUEST, path, item.place.clone(), report);
        let Some(request) = fields.and_then(|fields| {
            let request = request(&fields, report)?;
            check_ranks(&fields, request.stated.ranks, workers, report);
            if let Some(first) = names.insert(request.stated.id.clone(), index) {
                refuse(&fields, "id", &format!("is that of `requests[{first}]` too"), report);
            }
            Some(request)
        }) else {
            continue; // it has been reported
        };
        raw.push(request);
    }
    (raw.len() == items.len()).then(|| {
        let mut list = raw;
        for request in &mut list {
            let ranks = &mut request.stated.ranks;
            ranks.prefill = ranks.prefill.or(ranks.serving);
        }
        RequestList::new(list)
    })
}

fn request(fields: &Fields<'_>, report: &mut Report) -> Option<RawRequest> {
    for name in REQUIRED {
        if !fields.states(name) {
            fields.missing(name, "it has no default", report);
        }
    }
    let id = fields.text("id", report).map(str::to_owned);
    let arrival = fields.real("arrival_time_ms", Real::NotNegative, report);
    let input = fields.whole_32("input_tokens", Whole::POSITIVE_32, report);
    let output = fields.whole_32("output_tokens", Whole::ANY_32, report);
    let prompt = tokens(fields, "input_token_ids", report);
    let planned = tokens(fields, "output_token_ids", report);
    check_metadata(fields, report);
    if let (Some(prompt), Some(input)) = (&prompt, input)
        && prompt.len() != input as usize
    {
        let why = format!("has {} tokens, and `input_tokens` says {input}", prompt.len());
        refuse(fields, "input_token_ids", &why, report);
    }
    let session = fields.text("session_id", report).map(str::to_owned);
    let turn = fields.whole_32("turn_index", Whole::ANY_32, report);
    let ranks = RankPins {
        serving: fields.whole_32("dp_rank", Whole::ANY_32, report),
        prefill: fields.whole_32("prefill_dp_rank", Whole::ANY_32, report),
    };
    // A planned output is as long as it is, whatever `output_tokens` says.
    let output = match &planned {
        Some(planned) => planned.len() as u64,
        None => u64::from(output?),
    };
    let input = u64::from(input?);
    if input + output > u64::from(u32::MAX) {
        let why = format!("makes a sequence of {} tokens, at most {}", input + output, u32::MAX);
        refuse(fields, "output_tokens", &why, report);
        return None;
    }
    let mut stated = StatedRequest::new(id?, arrival?, Tokens::new(input), Tokens::new(output));
    stated.ranks = ranks;
    stated.session = session;
    stated.turn = turn;
    Some(RawRequest { stated, prompt, planned })
}

fn tokens(fields: &Fields<'_>, name: &'static str, report: &mut Report) -> Option<Vec<u32>> {
    let entry = fields.entry(name)?;
    if let Data::Tokens(tokens) = &entry.value.data {
        return Some(tokens.clone());
    }
    let wrong = fields
        .items(name, report)?
        .iter()
        .find(|item| !matches!(item.data, Data::Int(number) if u32::try_from(number).is_ok()));
    let node = wrong.unwrap_or(&entry.value);
    let message = format!(
        "`{}`: expected token ids, whole numbers from 0 to {}, found {}",
        fields.at(name),
        u32::MAX,
        node.describe()
    );
    report.push(node.place.problem(Code::DynosimWrongType, message, "is no token id"));
    None
}

/// Checks what a router reads; nothing here routes by it.
fn check_metadata(fields: &Fields<'_>, report: &mut Report) {
    let Some(metadata) = fields.lenient_section("metadata", METADATA, report) else { return };
    let priority = metadata.entry("priority").map(|entry| &entry.value.data);
    let fits = match priority {
        None => true,
        Some(Data::Int(number)) => i32::try_from(*number).is_ok(),
        Some(_) => false,
    };
    if !fits {
        refuse(&metadata, "priority", "is no whole number of 32 bits", report);
    }
    let _strict = metadata.whole_32("strict_priority", Whole::ANY_32, report);
    if metadata.states("policy_class")
        && !matches!(metadata.entry("policy_class").map(|e| &e.value.data), Some(Data::Text(_)))
    {
        refuse(&metadata, "policy_class", "is no text", report);
    }
}

/// Reports ranks that a worker does not have.
fn check_ranks(
    fields: &Fields<'_>,
    ranks: RankPins,
    workers: Option<&Workers>,
    report: &mut Report,
) {
    let Some((prefill, serving)) = workers.map(ranks_of) else { return };
    let mut check = |name: &'static str, rank: Option<u32>, count: u32| {
        if rank.is_some_and(|rank| rank >= count) {
            refuse(fields, name, &format!("is no rank of a worker, which has {count}"), report);
        }
    };
    check("dp_rank", ranks.serving, serving);
    match prefill {
        None => fields.conflict("prefill_dp_rank", "needs a disaggregated topology", report),
        Some(count) => match ranks.prefill {
            Some(_) => check("prefill_dp_rank", ranks.prefill, count),
            None => check("dp_rank", ranks.serving, count),
        },
    }
}
