//! A plain scheduler, one pass and one request at a time, that shares no code with the engine's.
//!
//! vLLM's and TensorRT-LLM's passes on one rank, with chunks, preemption, prefix sharing and drafts, written for a reader and not for
//! speed: memory is a list of blocks that know the tokens before them, every count is made anew where it is asked for.
//! [`agreement`] holds the engine equal to it, event by event. Source: spec/SIMULATION.md §2.2, §2.4–2.6, §3.

mod agreement;
mod drafts;
mod memory;
mod pass;
mod rank;
