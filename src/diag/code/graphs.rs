//! Workflow graphs.

use crate::diag::declare::area;

area! {
    ($) graphs;

    GraphInput "graph::input" Error "A file of graphs is not what its format says."
        "A native file is YAML or JSON, its keys are texts, and each stands once in a mapping. Sessions with forks and spawns stand one a line, as JSON. The message names the line, the session and what is wrong: an unknown key, a reference that leads nowhere, a fork before the last turn, a join that is no later turn.";
    GraphRecords "graph::records" Error "The records of a native file do not make graphs."
        "A native file holds one graph and, behind it, the traces that run it: as `graph` and `traces` of one document, or as documents or lines with `kind`. A trace of a graph without nodes brings `messages`. Source: rules 19 and 20 of the format.";
    GraphField "graph::field" Error "A field of a native graph is unknown, missing or of the wrong kind."
        "Unknown fields are refused, because what they ask for would not happen; the nearest known one is shown. docs/graph.md lists them.";
    GraphVersion "graph::version" Error "A native graph has a version that is not known."
        "Fields mean what the version says. Known is `\"2.0\"`. Source: rule 12 of the format.";
    GraphNodeType "graph::node_type" Error "A node is no call of a model."
        "Nodes are of the type `llm`; tools and manual steps are not run. Write what they take as a delay of an edge. Source: rule 13 of the format.";
    GraphDelay "graph::delay" Error "A delay is negative, not finite or too long."
        "Times of native graphs are numbers of microseconds from 0 on. Source: rule 57 of the format.";
    GraphPrompt "graph::prompt" Error "A prompt reads what need not be there, or cannot be sent."
        "A prompt is messages and `@CHANNEL`. What is read must be there whenever the node is sent, and must be the same in every run: a channel whose writer has not ended, or whose writers run side by side, is refused, and so are a text with several writers, a conversation that is not continued at its start, and blocks of types and media. The message says which.";
    GraphCache "graph::cache" Warning "A node expects more from a cache than its prompt has."
        "`cached` tokens are part of the `input` tokens. A recording that states more counts something else. Source: rule 15 of the format.";
    GraphTree "graph::tree" Error "No graph has this name."
        "A recording holds one graph a session tree, called after its root session. `bench graph FILE` without `--tree` draws all of them.";
    GraphName "graph::name" Error "A name in a graph is taken or means something else."
        "Nodes and channels are found by their names, so each stands once. `START`, `END`, an empty name and names that begin with `_aiperf` mean something else.";
    GraphEdge "graph::edge" Error "An edge leads nowhere."
        "An edge leads from the start or a node to a node or the end, and both ends are in the graph.";
    GraphWait "graph::wait" Error "What an edge waits for contradicts itself."
        "An edge waits for the end of its source, or for its dispatch and perhaps its first token, never for both; the start has neither. A node that waits for a dispatch has that edge alone, because it is scheduled when its source is sent.";
    GraphChannel "graph::channel" Error "A channel is not there, is written by several, or cannot fill."
        "A channel that keeps its last value has one writer, else the order of answers would decide what it holds. A node waits for no more values than nodes write.";
    GraphCycle "graph::cycle" Error "Nodes of a graph wait for one another."
        "None of them could ever start. The message names one cycle.";
    GraphUnreachable "graph::unreachable" Error "A node cannot be reached from the start."
        "Nothing that it waits for ever begins. Add an edge from the start or from a node that can be reached.";

    GraphTokenizer "graph::tokenizer" Error "A file is no tokenizer."
        "The text that stands for recorded blocks is made under a tokenizer, so that n tokens are n tokens. `builtin` is in the program; `file` names the `tokenizer.json` of the served model in the format of Hugging Face.";
    GraphVocabulary "graph::vocabulary" Error "A tokenizer has too few words to make texts of an exact length."
        "Texts are made of words of one length that are one token each, alone and side by side. Tokenizers of bytes or of characters have none; use `builtin`.";
    StoreFile "store::file" Error "A segment store cannot be written or read."
        "A store is a folder that `bench` writes as a whole, beside its place first. The message says what the system answered.";
    StoreDamaged "store::damaged" Error "A segment store is not what it was when it was written."
        "Every file of a store has its length and digest in `store.json`, and that one has its digest in `store.sha256`. One that is cut, altered or missing means that requests would not be those that were planned. Build the store again from its trace.";
}

pub(super) use graphs;
