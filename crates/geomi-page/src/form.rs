//! GET forms that can be sent as they stand lead somewhere, as a link does.
//!
//! Hidden fields, fields that are filled in and checked boxes go into the query,
//! as a browser would send them. An empty field, a password, a file, a text area
//! or a select element needs a person, and such a form is not sent.
//!
//! A submit button can override the form's action (`formaction`) and its method
//! (`formmethod`). A form is sent only if its default button, the first one, sends
//! it by GET. One request is made for the form, with the first named button that
//! GETs, and one for each further GET button that has a `formaction`.

use std::fmt::Write as _;

/// Longest query that is made of a form.
const QUERY_BYTES_MAX: usize = 1_024;
/// Submit buttons of one form that are looked at.
const BUTTONS_MAX: usize = 16;

/// How a form or a button sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Method {
    Get,
    /// POST, `dialog`, or not known: no request is made.
    Other,
}

impl Method {
    fn parse(text: &str) -> Self {
        let text = text.trim_ascii();
        if text.is_empty() || text.eq_ignore_ascii_case("get") {
            Self::Get
        } else {
            Self::Other
        }
    }
}

/// A form whose fields are being read.
pub(crate) struct Form {
    action: String,
    method: Method,
    /// The `id`; fields elsewhere in the page can name it.
    id: Option<String>,
    query: String,
    buttons: Vec<Button>,
    can_send: bool,
}

/// A submit button.
struct Button {
    method: Method,
    action: Option<String>,
    /// `name=value`, for a button with a name.
    pair: Option<String>,
}

/// A field of a form, its values decoded.
#[derive(Default)]
pub(crate) struct Field<'f> {
    pub(crate) sort: &'f str,
    pub(crate) name: &'f str,
    pub(crate) value: Option<&'f str>,
    pub(crate) is_checked: bool,
    /// `formaction` and `formmethod` of a button.
    pub(crate) action: Option<&'f str>,
    pub(crate) method: Option<&'f str>,
}

impl Form {
    pub(crate) fn new(action: &str, method: &str) -> Self {
        Self {
            action: action.trim_ascii().to_owned(),
            method: Method::parse(method),
            id: None,
            query: String::new(),
            buttons: Vec::new(),
            can_send: true,
        }
    }

    /// This form with an `id`.
    pub(crate) fn with_id(mut self, id: Option<&str>) -> Self {
        self.id = id.filter(|id| !id.is_empty()).map(str::to_owned);
        self
    }

    /// The `id`, where it has one.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Marks the form as one that needs a person, or whose fields are not known.
    pub(crate) fn wants_input(&mut self) {
        self.can_send = false;
    }

    /// Takes a field.
    pub(crate) fn field(&mut self, field: &Field<'_>) {
        let is = |sorts: &[&str]| sorts.iter().any(|it| field.sort.eq_ignore_ascii_case(it));
        let value = field.value.unwrap_or_default();
        if is(&["password", "file"]) {
            self.can_send = false;
        } else if is(&["submit", "image"]) {
            let has_pair = !field.name.is_empty() && is(&["submit"]);
            self.button(field, has_pair.then(|| pair(field.name, value)));
        } else if is(&["button", "reset"]) {
            // It does nothing by itself.
        } else if is(&["checkbox", "radio"]) {
            if field.is_checked {
                self.add(field.name, field.value.unwrap_or("on"));
            }
        } else if is(&["hidden"]) || !value.trim_ascii().is_empty() {
            self.add(field.name, value);
        } else {
            self.can_send = false;
        }
    }

    fn button(&mut self, field: &Field<'_>, pair: Option<String>) {
        if self.buttons.len() < BUTTONS_MAX {
            self.buttons.push(Button {
                method: field.method.map_or(self.method, Method::parse),
                action: field.action.map(|action| action.trim_ascii().to_owned()),
                pair,
            });
        }
    }

    fn add(&mut self, name: &str, value: &str) {
        if name.is_empty() {
            return;
        }
        if !self.query.is_empty() {
            self.query.push('&');
        }
        self.query += &pair(name, value);
        self.can_send &= self.query.len() <= QUERY_BYTES_MAX;
    }

    /// Where it leads, if it can be sent.
    pub(crate) fn targets(self) -> Vec<String> {
        let by_default = self.buttons.first().map_or(self.method, |it| it.method);
        if !self.can_send || by_default != Method::Get {
            return Vec::new();
        }
        let gets = || self.buttons.iter().filter(|it| it.method == Method::Get);
        // The form's own action: with the first button that leaves it as it is.
        let mut plain = gets().filter(|it| it.action.is_none());
        let first = plain.clone().find(|it| it.pair.is_some());
        let first = first.or_else(|| plain.next());
        let own = (first.is_some() || self.buttons.is_empty())
            .then(|| (&self.action, first.and_then(|it| it.pair.as_ref())));
        let elsewhere = gets().filter_map(|it| Some((it.action.as_ref()?, it.pair.as_ref())));
        own.into_iter()
            .chain(elsewhere)
            .map(|(action, pair)| target(action, &self.query, pair))
            .collect()
    }
}

/// The address a form asks for: what it sends takes the place of the action's own
/// query.
fn target(action: &str, query: &str, button: Option<&String>) -> String {
    let mut url = action
        .split(['?', '#'])
        .next()
        .unwrap_or_default()
        .to_owned();
    let mut before = '?';
    for part in [Some(query), button.map(String::as_str)]
        .into_iter()
        .flatten()
    {
        if !part.is_empty() {
            url.push(before);
            url.push_str(part);
            before = '&';
        }
    }
    url
}

/// `name=value` as a form sends it. What is not ASCII is written in the page's
/// charset later, as in any other link.
fn pair(name: &str, value: &str) -> String {
    let mut out = String::with_capacity(name.len() + value.len() + 1);
    for (at, part) in [name, value].into_iter().enumerate() {
        if at > 0 {
            out.push('=');
        }
        for c in part.chars() {
            match c {
                ' ' => out.push('+'),
                '*' | '-' | '.' | '_' => out.push(c),
                c if c.is_ascii_alphanumeric() || !c.is_ascii() => out.push(c),
                c => write!(out, "%{:02X}", c as u32).expect("a string takes any write"),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field<'f>(sort: &'f str, name: &'f str, value: Option<&'f str>) -> Field<'f> {
        Field {
            sort,
            name,
            value,
            ..Field::default()
        }
    }

    #[test]
    fn what_is_filled_in_is_sent() {
        let mut form = Form::new("/list?old=1#x", "GET");
        form.field(&field("hidden", "a b", Some("1&2")));
        form.field(&field("text", "q", Some("x")));
        form.field(&field("checkbox", "no", None));
        form.field(&field("submit", "go", Some("Go")));
        form.field(&Field {
            action: Some("/other"),
            ..field("submit", "to", Some("1"))
        });
        assert_eq!(
            form.targets(),
            ["/list?a+b=1%262&q=x&go=Go", "/other?a+b=1%262&q=x&to=1"]
        );
    }

    #[test]
    fn what_wants_a_person_is_not_sent() {
        for sort in ["text", "", "search", "password", "file"] {
            let mut form = Form::new("/x", "");
            form.field(&field(sort, "q", None));
            assert_eq!(form.targets(), Vec::<String>::new(), "{sort}");
        }
        assert!(Form::new("/x", "POST").targets().is_empty());
        assert_eq!(Form::new("/x", " get ").targets(), ["/x"]);
    }

    #[test]
    fn the_default_button_decides_the_method() {
        let targets = |method, buttons: &[(Option<&str>, Option<&str>)]| {
            let mut form = Form::new("/x", method);
            for &(method, action) in buttons {
                form.field(&Field {
                    sort: "submit",
                    method,
                    action,
                    ..Field::default()
                });
            }
            form.targets()
        };
        let none = Vec::<String>::new();
        assert_eq!(targets("", &[(Some("post"), None)]), none);
        assert_eq!(targets("", &[(Some("POST"), None), (None, None)]), none);
        assert_eq!(targets("", &[(Some("dialog"), None)]), none);
        assert_eq!(
            targets("", &[(None, None), (Some("post"), Some("/y"))]),
            ["/x"]
        );
        assert_eq!(targets("post", &[(None, Some("/y"))]), none);
        assert_eq!(targets("post", &[(Some("get"), Some("/y"))]), ["/y"]);
        assert_eq!(targets("", &[(None, Some("/y"))]), ["/y"]);
    }
}
