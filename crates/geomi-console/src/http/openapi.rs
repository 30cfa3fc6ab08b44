//! The document of the API (`OpenAPI` 3.1), made of the table of routes.
//!
//! Nothing is written twice: paths, methods and roles come from the table,
//! parameters and answers from the operation beside each handler, schemas from
//! the types that are sent. A test compares it with the file in the repository,
//! so that a change of the API shows in a review.

use schemars::generate::SchemaSettings;
use schemars::{SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::operation::{Answer, Operation, Param, ParamKind, schema};
use super::problem::ProblemBody;
use super::routes::{Needs, ROUTES, Route, Verb};
use crate::accounts::Role;

/// The whole document.
pub fn document() -> Value {
    // Version 3.1 takes JSON Schema as it is; only the place of the parts is its own.
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let Some(operation) = &route.operation else {
            continue;
        };
        let path = paths
            .entry(plain_path(route.path))
            .or_insert_with(|| json!({}));
        path[route.verb.as_str()] = describe(route, operation, &mut generator);
    }
    let problem = schema::<ProblemBody<'static>>(&mut generator);
    debug_assert!(problem.as_object().is_some(), "a problem has a schema");
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "geomi",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Crawls, seen and steered. Lists are paged by `after` or `before`: send what `next` said. \
                Send an API token as `Authorization: Bearer`, or the cookie of a session and, with what changes something, its `X-CSRF-Token`.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }, { "session": [] }],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "An API token" },
                "session": { "type": "apiKey", "in": "cookie", "name": super::guard::COOKIE },
            },
        },
    })
}

/// axum's `{*path}` is `OpenAPI`'s `{path}`.
fn plain_path(path: &str) -> String {
    path.replace("{*", "{")
}

fn describe(route: &Route, operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let mut parameters = path_parameters(route.path);
    parameters.extend(operation.params.iter().map(parameter));
    let needs = match route.needs {
        Needs::Nothing => "Needs no log-in.".to_owned(),
        Needs::Role(role) | Needs::RoleOrLoopback(role) => {
            format!("Needs the role {} or more.", role.as_str())
        }
    };
    let mut described = json!({
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": needs,
        "parameters": parameters,
        "responses": responses(route, operation, generator),
    });
    if let Some(body) = operation.body {
        let schema = body(generator);
        described["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": schema } },
        });
    }
    if route.needs == Needs::Nothing {
        described["security"] = json!([]);
    }
    described
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(name.trim_start_matches('*'))
    });
    names
        .map(|name| {
            let schema = match name {
                "no" => json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX }),
                _ => json!({ "type": "string", "minLength": 1, "maxLength": 1000 }),
            };
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        })
        .collect()
}

fn parameter(param: &Param) -> Value {
    let schema = match param.kind {
        ParamKind::Text { min, max } => {
            json!({ "type": "string", "minLength": min, "maxLength": max })
        }
        ParamKind::Needed { max } => {
            json!({ "type": "string", "minLength": 1, "maxLength": max })
        }
        ParamKind::Number { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        ParamKind::OneOf(words) => json!({ "type": "string", "enum": words }),
    };
    json!({
        "name": param.name,
        "in": "query",
        "required": matches!(param.kind, ParamKind::Needed { .. }),
        "description": param.doc,
        "schema": schema,
    })
}

fn responses(route: &Route, operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let mut responses = Map::new();
    let json_of = |schema| json!({ "application/json": { "schema": schema } });
    let mut add = |code: u16, description: &str, content: Option<Value>| {
        let mut response = json!({ "description": description });
        if let Some(content) = content {
            response["content"] = content;
        }
        responses.insert(code.to_string(), response);
    };
    match operation.answer {
        Answer::Json(schema) => {
            add(200, "The answer", Some(json_of(schema(generator))));
            add(304, "As it was: see If-None-Match", None);
        }
        Answer::Fresh(schema) => add(200, "The answer", Some(json_of(schema(generator)))),
        Answer::Created(schema) => add(201, "Made", Some(json_of(schema(generator)))),
        Answer::Done => add(204, "Done", None),
        Answer::Events => {
            let text = json!({ "text/event-stream": { "schema": { "type": "string" } } });
            add(200, "Events, until one side goes away", Some(text));
        }
        Answer::Text => {
            let text = json!({ "text/plain": { "schema": { "type": "string" } } });
            add(200, "The text", Some(text));
            add(304, "As it was: see If-None-Match", None);
        }
        Answer::Bytes => {
            let bytes = json!({ "application/octet-stream": { "schema": json_schema!({}) } });
            add(200, "The bytes", Some(bytes));
            add(304, "As it was: see If-None-Match", None);
        }
        Answer::File => {
            let bytes = json!({ "application/octet-stream": { "schema": json_schema!({}) } });
            add(200, "The file", Some(bytes.clone()));
            add(206, "A part of it", Some(bytes));
            add(304, "As it was: see If-None-Match", None);
        }
    }
    for (code, description) in problems(route, operation) {
        let content = json!({ "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } });
        add(code, description, Some(content));
    }
    responses.into()
}

/// The problems a route can answer with.
fn problems(route: &Route, operation: &Operation) -> Vec<(u16, &'static str)> {
    // A host name that is not ours is refused everywhere.
    let mut codes = operation.problems.to_vec();
    codes.push(421);
    if route.needs != Needs::Nothing {
        codes.push(401);
    }
    let is_change = route.verb != Verb::Get;
    if is_change || matches!(route.needs, Needs::Role(role) if role > Role::Viewer) {
        codes.push(403);
    }
    if is_change {
        codes.push(408);
    }
    if route.path.contains('{') {
        codes.push(404);
    }
    if !operation.params.is_empty() || operation.body.is_some() || route.path.contains('{') {
        codes.push(400);
    }
    if operation.body.is_some() {
        codes.extend([413, 415, 422]);
    } else if is_change {
        codes.push(413);
    }
    if matches!(operation.answer, Answer::File) {
        codes.push(416);
    }
    codes.sort_unstable();
    codes.dedup();
    let described = codes.into_iter().map(|code| (code, meaning(code)));
    described.collect()
}

const fn meaning(code: u16) -> &'static str {
    match code {
        400 => "What was sent cannot be read",
        401 => "Nobody we know",
        403 => "The role is not enough, or the request was forged",
        404 => "There is nothing there",
        408 => "The body did not arrive in time",
        409 => "It is as described here, and cannot be done as things are",
        413 => "The body is too long",
        415 => "The body is not JSON",
        416 => "The file has no such part",
        421 => "Sent to a host name that is not this console's",
        422 => "What was sent is not what is described here",
        429 => "Too many attempts: see Retry-After",
        503 => "Too many contents are on their way: see Retry-After",
        _ => "A problem",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Run with `GEOMI_UPDATE_GOLDEN=1` to write it anew.
    #[test]
    fn the_document_in_the_repository_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
        let made = serde_json::to_string_pretty(&document()).unwrap() + "\n";
        if std::env::var_os("GEOMI_UPDATE_GOLDEN").is_some() {
            std::fs::write(path, &made).unwrap();
        }
        let kept = std::fs::read_to_string(path).unwrap();
        assert!(
            kept == made,
            "openapi.json is stale: GEOMI_UPDATE_GOLDEN=1 writes it"
        );
    }

    #[test]
    fn every_route_of_the_api_is_described_once() {
        let api = ROUTES
            .iter()
            .filter(|route| route.path.starts_with("/api/"));
        let mut ids = BTreeSet::new();
        for route in api {
            let operation = route.operation.as_ref();
            let operation = operation.unwrap_or_else(|| panic!("{} is not described", route.path));
            assert!(ids.insert(operation.id), "{} is used twice", operation.id);
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document();
        let text = document.to_string();
        for part in text.split("#/components/schemas/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(
                document["components"]["schemas"].get(name).is_some(),
                "{name}"
            );
        }
    }
}
