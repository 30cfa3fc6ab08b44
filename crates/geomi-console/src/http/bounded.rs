//! Text of bounded length and numbers within bounds in the bodies of requests. The bound stands in the
//! type, so that the document of the API and what is accepted cannot differ.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};

/// The longest item of a list.
const ITEM_MAX: usize = 2_048;

/// Text with from `MIN` to `MAX` characters.
#[derive(Clone, Debug)]
pub(crate) struct Text<const MIN: usize, const MAX: usize>(pub(crate) String);

/// From `MIN` to `MAX` texts that are not empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts<const MIN: usize, const MAX: usize>(pub(crate) Vec<String>);

/// A whole number up to `MAX`; `3.0` is one, as JSON Schema has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UpTo<const MAX: u8>(pub(crate) u8);

impl<'de, const MAX: u8> Deserialize<'de> for UpTo<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        if number.fract() == 0.0 && (0.0..=f64::from(MAX)).contains(&number) {
            return Ok(Self(number as u8));
        }
        let what = format!("{number} is no whole number from 0 to {MAX}");
        Err(D::Error::custom(what))
    }
}

impl<const MAX: u8> JsonSchema for UpTo<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("UpTo{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "maximum": MAX })
    }
}

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Text<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let chars = text.chars().count();
        if !(MIN..=MAX).contains(&chars) {
            let what = format!("a text has {chars} characters, and may have from {MIN} to {MAX}");
            return Err(D::Error::custom(what));
        }
        Ok(Self(text))
    }
}

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Texts<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::<Text<1, ITEM_MAX>>::deserialize(deserializer)?;
        if !(MIN..=MAX).contains(&items.len()) {
            let len = items.len();
            let what = format!("a list has {len} items, and may have from {MIN} to {MAX}");
            return Err(D::Error::custom(what));
        }
        Ok(Self(items.into_iter().map(|item| item.0).collect()))
    }
}

impl<const MIN: usize, const MAX: usize> JsonSchema for Text<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Text{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": MIN, "maxLength": MAX })
    }
}

impl<const MIN: usize, const MAX: usize> JsonSchema for Texts<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Texts{MIN}To{MAX}").into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<Text<1, ITEM_MAX>>();
        json_schema!({ "type": "array", "items": item, "minItems": MIN, "maxItems": MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_in_characters_and_hold() {
        let text = |json: &str| serde_json::from_str::<Text<1, 3>>(json).is_ok();
        assert!(text("\"a\"") && text("\"한글날\"") && !text("\"\"") && !text("\"abcd\""));
        let hour = |json: &str| serde_json::from_str::<UpTo<23>>(json).map(|hour| hour.0);
        assert_eq!((hour("23").unwrap(), hour("3.0").unwrap()), (23, 3));
        assert!(hour("24").is_err() && hour("-1").is_err() && hour("1.5").is_err());
        let texts = |json: &str| serde_json::from_str::<Texts<1, 2>>(json).is_ok();
        assert!(
            texts("[\"a\"]") && !texts("[]") && !texts("[\"\"]") && !texts("[\"a\",\"b\",\"c\"]")
        );
    }
}
