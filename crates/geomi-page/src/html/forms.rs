//! The forms of a page while it is walked: which field belongs to which form.
//!
//! A field belongs to the form around it, or to the form whose `id` its `form`
//! attribute names, wherever that form stands. So a form with an `id` is complete
//! only at the end of the page. A field that names a form further down makes that
//! form unknown, and it is not sent.

use geomi_model::LinkKind;

use super::Walk;
use crate::element::Attribute;
use crate::form::{Field, Form};
use crate::script::Code;

use super::leads::script_address;
use crate::values::percent_decoded;

/// Forms with an `id` that are kept until the page ends; further ones are not
/// sent.
const KEPT_MAX: usize = 1_024;
/// Names of later forms that are remembered.
const AWAITED_MAX: usize = 64;

/// The forms of one page.
#[derive(Default)]
pub(super) struct Forms {
    /// The form that is open.
    open: Option<Form>,
    /// Forms with an `id` that have ended.
    ended: Vec<Form>,
    /// Forms that a field named before they came.
    awaited: Vec<String>,
}

impl Forms {
    /// The form a field belongs to.
    fn owner(&mut self, id: Option<&str>) -> Option<&mut Form> {
        let Some(id) = id else {
            return self.open.as_mut();
        };
        let mut known = self.ended.iter_mut().chain(&mut self.open);
        let found = known.find(|form| form.id() == Some(id));
        if found.is_none() && self.awaited.len() < AWAITED_MAX {
            self.awaited.push(id.to_owned());
        }
        found
    }

    fn begin(&mut self, mut form: Form) {
        let is_unknown = form.id().is_some_and(|id| {
            self.awaited.len() >= AWAITED_MAX || self.awaited.iter().any(|it| it == id)
        });
        if is_unknown {
            form.wants_input();
        }
        self.open = Some(form);
    }
}

impl Walk<'_> {
    /// A form begins.
    pub(super) fn form(&mut self) {
        self.form_ended();
        if self.template.is_none() {
            let action = self.decoded("action").unwrap_or_default();
            if let Some(code) = script_address(&action) {
                self.scan(&percent_decoded(code), Code::Inline);
                return;
            }
            let method = self.value_of("method").unwrap_or_default();
            let id = self.decoded("id");
            let form = Form::new(&action, method).with_id(id.as_deref());
            self.forms.begin(form);
        }
    }

    pub(super) fn input(&mut self) {
        let sort = self.tokenizer.attributes().get(Attribute::Type);
        self.field(sort.unwrap_or_default().trim_ascii());
    }

    pub(super) fn button(&mut self) {
        let sort = self.tokenizer.attributes().get(Attribute::Type);
        let sort = sort.map_or("", str::trim_ascii);
        let sends = !sort.eq_ignore_ascii_case("button") && !sort.eq_ignore_ascii_case("reset");
        self.field(if sends { "submit" } else { "button" });
    }

    /// A field that a person fills in: a select element or a text area.
    pub(super) fn open_field(&mut self) {
        if !self.may_have_owner() {
            return;
        }
        let id = self.decoded("form");
        if let Some(form) = self.forms.owner(id.as_deref()) {
            form.wants_input();
        }
    }

    /// A field or button of a form.
    fn field(&mut self, sort: &str) {
        if !self.may_have_owner() {
            return;
        }
        let [name, value, action, id] =
            ["name", "value", "formaction", "form"].map(|name| self.decoded(name));
        let is_checked = self.value_of("checked").is_some();
        let method = self.value_of("formmethod");
        let Some(form) = self.forms.owner(id.as_deref()) else {
            return;
        };
        form.field(&Field {
            sort,
            name: name.as_deref().unwrap_or_default(),
            value: value.as_deref(),
            is_checked,
            action: action.as_deref(),
            method,
        });
    }

    /// Whether the field whose tag was just read can belong to a form at all.
    fn may_have_owner(&self) -> bool {
        self.forms.open.is_some() || self.tokenizer.attributes().has_rare()
    }

    /// The open form, if any, ends.
    pub(super) fn form_ended(&mut self) {
        match self.forms.open.take() {
            Some(form) if form.id().is_none() => self.form_complete(form),
            Some(form) if self.forms.ended.len() < KEPT_MAX => self.forms.ended.push(form),
            _ => {}
        }
    }

    /// The page ends: all forms are complete.
    pub(super) fn forms_complete(&mut self) {
        self.form_ended();
        for form in std::mem::take(&mut self.forms.ended) {
            self.form_complete(form);
        }
    }

    fn form_complete(&mut self, form: Form) {
        for target in form.targets() {
            self.owned(&target, LinkKind::Form);
        }
    }
}
