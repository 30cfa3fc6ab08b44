//! What the API's document says of a route. It stands beside the handler, as
//! data; [`openapi`](super::openapi) makes the document of it.

use schemars::{Schema, SchemaGenerator};

/// Makes a schema.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// What a route does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    /// Name for programs.
    pub(crate) id: &'static str,
    /// Group.
    pub(crate) tag: &'static str,
    /// In a sentence.
    pub(crate) summary: &'static str,
    /// Parameters in the query.
    pub(crate) params: &'static [Param],
    /// What is sent, as JSON.
    pub(crate) body: Option<SchemaOf>,
    /// What comes back when all is well.
    pub(crate) answer: Answer,
    /// Codes of problems beyond those that every such route has.
    pub(crate) problems: &'static [u16],
}

/// A parameter in the query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) kind: ParamKind,
    pub(crate) doc: &'static str,
}

/// What a parameter holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParamKind {
    /// Text of bounded length.
    Text { min: usize, max: usize },
    /// The same, and nothing can be said without it.
    Needed { max: usize },
    /// A whole number.
    Number { min: u64, max: u64 },
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// What comes back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// 200 and JSON with an `ETag`.
    Json(SchemaOf),
    /// 200 and JSON without.
    Fresh(SchemaOf),
    /// 201, JSON and Location.
    Created(SchemaOf),
    /// 204.
    Done,
    /// A stream of events.
    Events,
    /// A file, whole or in part.
    File,
    /// Plain text with an `ETag`.
    Text,
    /// Bytes to be stored, never shown, with an `ETag`.
    Bytes,
}

/// A parameter of text.
pub(crate) const fn text(name: &'static str, max: usize, doc: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Text { min: 0, max },
        doc,
    }
}

/// A parameter of text without which there is no answer.
pub(crate) const fn needed(name: &'static str, max: usize, doc: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Needed { max },
        doc,
    }
}

/// A parameter that is a number.
pub(crate) const fn number(name: &'static str, min: u64, max: u64, doc: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Number { min, max },
        doc,
    }
}

/// The schema of a type.
pub(crate) fn schema<T: schemars::JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
