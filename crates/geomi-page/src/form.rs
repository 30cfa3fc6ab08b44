//! Forms that can be sent as they stand: a GET form in which nothing is to be
//! filled in leads somewhere, as a link does.
//!
//! Hidden fields, fields that are filled in already and checked boxes go into the
//! query, as a browser would send them; of several buttons the first that has a name.
//! An empty field, a password, a file, a text area or a list to choose from
//! wants a person, and such a form is left alone.

use std::fmt::Write as _;

/// Longest query that is made of a form.
const QUERY_BYTES_MAX: usize = 1_024;
/// Buttons with addresses of their own that are looked at.
const ELSEWHERE_MAX: usize = 16;

/// A form in the making.
pub(crate) struct Form {
    action: String,
    query: String,
    /// The button that is pressed.
    button: Option<String>,
    /// Where other buttons send it.
    elsewhere: Vec<String>,
    can_send: bool,
}

/// A field of a form, its values decoded.
pub(crate) struct Field<'f> {
    pub(crate) sort: &'f str,
    pub(crate) name: &'f str,
    pub(crate) value: Option<&'f str>,
    pub(crate) is_checked: bool,
}

impl Form {
    pub(crate) fn new(action: &str, method: &str) -> Self {
        let method = method.trim_ascii();
        Self {
            action: action.trim_ascii().to_owned(),
            query: String::new(),
            button: None,
            elsewhere: Vec::new(),
            can_send: method.is_empty() || method.eq_ignore_ascii_case("get"),
        }
    }

    /// Somebody is to write or choose something.
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
            if self.button.is_none() && !field.name.is_empty() && is(&["submit"]) {
                self.button = Some(pair(field.name, value));
            }
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

    /// Takes a button's address of its own.
    pub(crate) fn button_to(&mut self, action: &str) {
        if self.elsewhere.len() < ELSEWHERE_MAX {
            self.elsewhere.push(action.trim_ascii().to_owned());
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
        if !self.can_send {
            return Vec::new();
        }
        let mut query = self.query;
        if let Some(button) = self.button {
            if !query.is_empty() {
                query.push('&');
            }
            query += &button;
        }
        let actions = std::iter::once(self.action).chain(self.elsewhere);
        actions
            .map(|action| {
                // What is sent takes the place of the address's own query.
                let path = action.split(['?', '#']).next().unwrap_or_default();
                if query.is_empty() {
                    path.to_owned()
                } else {
                    format!("{path}?{query}")
                }
            })
            .collect()
    }
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
            is_checked: false,
        }
    }

    #[test]
    fn what_is_filled_in_is_sent() {
        let mut form = Form::new("/list?old=1#x", "GET");
        form.field(&field("hidden", "a b", Some("1&2")));
        form.field(&field("text", "q", Some("x")));
        form.field(&field("checkbox", "no", None));
        form.field(&field("submit", "go", Some("Go")));
        form.button_to("/other");
        assert_eq!(
            form.targets(),
            ["/list?a+b=1%262&q=x&go=Go", "/other?a+b=1%262&q=x&go=Go"]
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
}
