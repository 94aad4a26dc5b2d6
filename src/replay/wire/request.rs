//! One request of a plan.

use hyper::body::Bytes;

use crate::diag::{Code, Problem};
use crate::graph::{GraphSource, Node, NodeIndex};
use crate::record::Reply;
use crate::replay::OutgoingRequest;
use crate::workload::live::{Api, OutputCap};

use super::body::{Body, Unsendable, prompt_field};
use super::fields::{Fields, quoted};
use super::headers::Sender;
use super::identity::Identity;
use super::plan::WirePlan;
use super::routing::{self, Opening};

/// The method of every request.
pub(super) const METHOD: &str = "POST";

/// One sending of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireCall<'a> {
    /// The number of the instance.
    pub instance: u64,
    /// The call.
    pub node: NodeIndex,
    /// The word of the warm-up that it is sent for, which asks for one token; absent where it is measured.
    pub warmup: Option<&'a str>,
}

/// What a sending of a call has to itself: names, turn, and the word of a warm-up.
pub(super) type Sending<'a> = (&'a Identity, Opening, Option<&'a str>);

impl WirePlan {
    /// Returns a request. `reply` is what a call of the same instance has answered; `None` where it failed.
    ///
    /// The same call with the same answers is the same request, always.
    ///
    /// # Panics
    /// Where there is no such call: what may be asked for is in [`WirePlan::graphs`].
    pub fn request<'r>(
        &self,
        call: &WireCall<'_>,
        reply: &dyn Fn(NodeIndex) -> Option<&'r Reply>,
    ) -> OutgoingRequest {
        let trace = self.trace(call.instance);
        let identity = self.identity(call.instance);
        let opening = self.opening(call.instance, call.node);
        let body = self
            .splice(trace, call.node, (&identity, opening, call.warmup))
            .expect("it was spliced when it was planned");
        // Growing would copy a long prompt again and again. Escapes and names around answers are left to it.
        let planned = self.body(trace, call.node);
        let answers = planned.slots.iter().filter_map(|slot| reply(slot.call()));
        let room = answers.map(|reply| reply.text.len()).sum::<usize>();
        let mut bytes =
            Vec::with_capacity(usize::try_from(planned.bytes).unwrap_or(0).saturating_add(room));
        body.fill(reply, &mut |part| bytes.extend_from_slice(part));
        let is_streaming = self.is_streaming(trace, call.node);
        let sender = self.sender(trace, call.node, &identity);
        OutgoingRequest {
            method: METHOD,
            path: self.path(),
            headers: sender.headers(is_streaming, call.warmup),
            body: Bytes::from(bytes),
            is_streaming,
        }
    }

    /// Returns the path of every request: that of the API below the endpoint's own, whose `/v1` is not doubled.
    pub fn path(&self) -> String {
        let endpoint = &self.settings.endpoint;
        let base = endpoint.target.base_path();
        let version = if base.ends_with("/v1") { "" } else { "/v1" };
        format!("{base}{version}{}", endpoint.request.api.path())
    }

    /// Returns whether a call asks for a stream: as recorded, unless the scenario says otherwise.
    pub fn is_streaming(&self, trace: usize, node: NodeIndex) -> bool {
        let stated = self.settings.endpoint.request.streaming;
        stated.unwrap_or(self.graphs[trace].node(node).streaming)
    }

    /// Returns what the headers of a call derive from.
    pub(super) fn sender<'a>(
        &'a self,
        trace: usize,
        node: NodeIndex,
        identity: &'a Identity,
    ) -> Sender<'a> {
        let graph = &self.graphs[trace];
        Sender {
            endpoint: &self.settings.endpoint,
            routing: &self.settings.routing,
            graph,
            node: graph.node(node),
            identity,
        }
    }

    /// Returns which turn of its conversation a call is in instances that begin at their beginning.
    pub(super) fn planned_opening(&self, trace: usize, node: NodeIndex) -> Opening {
        let is_first = self.graphs[trace].node(node).session.turn == 0;
        if is_first { Opening::First } else { Opening::Later }
    }

    /// Returns which turn of its conversation a call is in an instance.
    fn opening(&self, instance: u64, node: NodeIndex) -> Opening {
        let trace = self.trace(instance);
        let window = usize::try_from(instance).ok().and_then(|at| self.windows().get(at));
        let Some(window) = window else { return self.planned_opening(trace, node) };
        let graph = &self.graphs[trace];
        let primes = self.settings.warmup != crate::workload::live::Warmup::None;
        let first = window.opening(graph, node, primes);
        if graph.node(node).session.turn == first { Opening::First } else { Opening::Later }
    }

    /// Splices the body of a call.
    ///
    /// # Errors
    /// [`Code::ReplayBody`] where the API cannot be sent it.
    pub(super) fn splice(
        &self,
        trace: usize,
        node: NodeIndex,
        sending: Sending<'_>,
    ) -> Result<Body<'_>, Problem> {
        let api = self.settings.endpoint.request.api;
        let source = self.graphs[trace].source;
        let fields = self.fields(trace, node, sending)?;
        let lines = self.prompts.messages(trace, node);
        let refused = |why| self.unsendable((trace, node), why);
        let is_authored = matches!(source, GraphSource::DagJsonl | GraphSource::Native);
        let marker = self.is_marked.then(|| sending.0.marker());
        let kept = marker.as_ref().map(|_| lines.clone());
        let mut body = Body::new(api, lines, is_authored).map_err(refused)?;
        if let (Some(marker), Some(lines)) = (marker, kept) {
            body.mark(&lines, &marker).map_err(refused)?;
        }
        body.append(&fields);
        Ok(body)
    }

    /// Returns the fields behind the prompt, in the order of REPLAY.md §9.1.
    fn fields(
        &self,
        trace: usize,
        node: NodeIndex,
        sending: Sending<'_>,
    ) -> Result<String, Problem> {
        let request = &self.settings.endpoint.request;
        let graph = &self.graphs[trace];
        let call = graph.node(node);
        // Sessions as authored state the fields of the whole run first: what a turn says wins.
        let authored = graph.source == GraphSource::DagJsonl;
        let mut fields = Fields::default();
        if authored {
            set_all(&mut fields, &request.extra);
        }
        set_all(&mut fields, &call.overrides.body);
        if fields.get(prompt_field(request.api)).is_some() {
            return Err(self.unsendable((trace, node), Unsendable::Prompt));
        }
        let model = request.model.as_ref().or(call.model.as_ref());
        let stated = fields.get("model").is_some();
        match model {
            Some(model) => fields.set("model", quoted(model)),
            None if stated => {}
            None => return Err(self.without_model((trace, node))),
        }
        let one = sending.2.map(|_| 1);
        let cap = one.or_else(|| call.max_tokens.map(crate::units::Tokens::get));
        if let Some(cap) = cap {
            fields.set(request.output_cap.name(), cap.to_string());
        }
        if let Some(tools) = &call.overrides.tools {
            fields.set("tools", self.tools((trace, node), tools)?);
        }
        let is_streaming = self.is_streaming(trace, node);
        fields.set("stream", if is_streaming { "true" } else { "false" });
        if request.ignore_eos {
            fields.set("ignore_eos", "true");
        }
        if let Some(cap) = cap.filter(|_| request.min_tokens) {
            fields.set("min_tokens", cap.to_string());
        }
        if !authored {
            set_all(&mut fields, &request.extra);
        }
        if let Some(one) = one {
            fields.set(request.output_cap.name(), one.to_string());
            // A call may have stated its cap by another name.
            for name in OutputCap::ALL.map(OutputCap::name) {
                if fields.get(name).is_some() {
                    fields.set(name, one.to_string());
                }
            }
        }
        if is_streaming && request.usage && request.api != Api::Responses {
            fields.set("stream_options", "{\"include_usage\":true}");
        }
        self.route(&mut fields, (trace, call), sending);
        let mut out = String::new();
        fields.write(&mut out);
        Ok(out)
    }

    /// Adds what the session routing says in the body.
    fn route(&self, fields: &mut Fields, (trace, call): (usize, &Node), sending: Sending<'_>) {
        let (identity, opening, _) = sending;
        let session = identity.conversation(&self.graphs[trace], &call.session.session);
        let stated = fields.get("nvext");
        let routed = routing::nvext(&self.settings.routing, stated, &session, (call, opening));
        if let Some(nvext) = routed {
            fields.set("nvext", nvext);
        }
    }

    /// Returns tools as the API takes them: `responses` has what a function is beside its type, not below it.
    fn tools(&self, call: (usize, NodeIndex), tools: &str) -> Result<String, Problem> {
        if self.settings.endpoint.request.api != Api::Responses {
            return Ok(tools.to_owned());
        }
        let read: Result<Vec<Fields>, _> = serde_json::from_str(tools);
        let tools = read.map_err(|_| self.unsendable(call, Unsendable::Tools))?;
        let flat = tools.into_iter().map(|tool| {
            let Some(function) = tool.get("function").and_then(Fields::read) else {
                return tool.object();
            };
            let mut flat = Fields::default();
            flat.set("type", "\"function\"");
            flat.append(function);
            flat.object()
        });
        Ok(format!("[{}]", flat.collect::<Vec<_>>().join(",")))
    }

    /// Returns the problem of a call that no request can be made of.
    fn unsendable(&self, (trace, node): (usize, NodeIndex), why: Unsendable) -> Problem {
        let api = self.settings.endpoint.request.api.name();
        let (why, help) = match why {
            Unsendable::NoText => (
                format!("a message of it is no text, and `{api}` takes text alone"),
                "write `api=\"chat\"`",
            ),
            Unsendable::Tools => (
                format!("it holds calls of tools, which `{api}` writes in another form"),
                "write `api=\"chat\"`",
            ),
            Unsendable::NoUserText => (
                "the marker of `cache-bust` has no text of the user's to stand before".to_owned(),
                "write `cache-bust=\"none\"`",
            ),
            Unsendable::Prompt => (
                format!(
                    "it states `{}`, which is its prompt",
                    prompt_field(self.settings.endpoint.request.api)
                ),
                "remove it from the call's own fields",
            ),
        };
        let (trace, node) = self.name(trace, node);
        let message = format!("call `{node}` of trace `{trace}` cannot be sent: {why}");
        Problem::new(Code::ReplayBody, message).help(help)
    }

    /// Returns the problem of a call that names no model.
    fn without_model(&self, (trace, node): (usize, NodeIndex)) -> Problem {
        let (trace, node) = self.name(trace, node);
        let message = format!("call `{node}` of trace `{trace}` names no model");
        let help = "name it at the endpoint: `endpoint … model=\"NAME\"`";
        Problem::new(Code::ReplayBody, message).help(help)
    }
}

/// States fields as they are written.
fn set_all(fields: &mut Fields, stated: &[(String, String)]) {
    for (name, json) in stated {
        fields.set(name, json.as_str());
    }
}
