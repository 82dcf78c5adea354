//! JSON Schemas, from the types whose values they describe.

use std::fmt::Display;

use cauri::{Amount, Country, Currency, Id, Metadata};
use serde_json::{Map, Value, json};

/// The words of a closed list.
pub(crate) fn words<T: Display>(all: &[T]) -> Value {
    let words: Vec<String> = all.iter().map(T::to_string).collect();
    json!({ "type": "string", "enum": words })
}

/// The words of a list that may grow.
pub(crate) fn open_words<T: Display>(all: &[T]) -> Value {
    let words: Vec<String> = all.iter().map(T::to_string).collect();
    json!({ "type": "string", "examples": words })
}

/// One word and no other.
pub(crate) fn word(word: &str) -> Value {
    json!({ "const": word })
}

/// An id of one kind.
pub(crate) fn id<T: Id>() -> Value {
    ids(&[T::PREFIX])
}

/// An id of one of several kinds.
pub(crate) fn ids(prefixes: &[&str]) -> Value {
    let prefixes = match prefixes {
        [one] => (*one).to_owned(),
        several => format!("({})", several.join("|")),
    };
    json!({ "type": "string", "pattern": format!("^{prefixes}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$") })
}

/// No control characters.
const PLAIN: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

/// A text without control characters.
pub(crate) fn text(longest: usize) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": longest, "pattern": PLAIN })
}

/// Any text.
pub(crate) fn any_text() -> Value {
    json!({ "type": "string" })
}

/// A text of a form.
pub(crate) fn pattern(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

pub(crate) fn url() -> Value {
    json!({ "type": "string", "format": "uri", "maxLength": 2048 })
}

pub(crate) fn email() -> Value {
    json!({ "type": "string", "format": "email" })
}

pub(crate) fn currency() -> Value {
    named("Currency")
}

pub(crate) fn country() -> Value {
    named("Country")
}

/// The schemas that others name for their fields.
pub(crate) fn shared() -> [(String, Value); 2] {
    let currencies: Vec<String> =
        codes(3).into_iter().filter(|it| it.parse::<Currency>().is_ok()).collect();
    let known = |it: &String| it.parse::<Country>().is_ok_and(|country| country.is_known());
    let countries: Vec<String> = codes(2).into_iter().filter(known).collect();
    let about = "A currency of ISO 4217; amounts are in its smallest unit.";
    let currency = about_it(words(&currencies), about);
    let country = about_it(words(&countries), "A country of ISO 3166-1.");
    [("Currency".to_owned(), currency), ("Country".to_owned(), country)]
}

/// Everything that upper-case letters can spell at this length.
fn codes(length: u32) -> Vec<String> {
    let longer = |codes: Vec<String>, _| {
        let each =
            |code: &String| ('A'..='Z').map(|letter| format!("{code}{letter}")).collect::<Vec<_>>();
        codes.iter().flat_map(each).collect()
    };
    (0..length).fold(vec![String::new()], longer)
}

pub(crate) fn network() -> Value {
    pattern("^[a-z0-9_]{1,40}$")
}

pub(crate) fn phone() -> Value {
    pattern("^\\+[1-9][0-9]{7,14}$")
}

/// A phone as a response shows it: whole, or masked.
pub(crate) fn shown_phone() -> Value {
    pattern("^\\+[0-9*]+$")
}

/// A date as a response shows it.
pub(crate) fn date() -> Value {
    let form = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$";
    json!({ "type": "string", "format": "date-time", "pattern": form })
}

/// A date as a request may give it.
pub(crate) fn given_date() -> Value {
    let form = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,3})?Z$";
    json!({ "type": "string", "format": "date-time", "pattern": form })
}

pub(crate) fn flag() -> Value {
    json!({ "type": "boolean" })
}

/// An integer of 64 bits.
pub(crate) fn integer() -> Value {
    json!({ "type": "integer", "format": "int64" })
}

/// How many.
pub(crate) fn count() -> Value {
    json!({ "type": "integer", "format": "int64", "minimum": 0 })
}

pub(crate) fn between(least: i64, most: i64) -> Value {
    json!({ "type": "integer", "format": "int64", "minimum": least, "maximum": most })
}

/// An amount that a request may name.
pub(crate) fn given_amount() -> Value {
    between(Amount::SMALLEST.units(), Amount::LARGEST.units())
}

pub(crate) fn array(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

pub(crate) fn some(items: Value) -> Value {
    json!({ "type": "array", "items": items, "minItems": 1 })
}

/// This, or null.
pub(crate) fn or_null(schema: Value) -> Value {
    match schema {
        Value::Object(mut object)
            if object.get("type").is_some_and(Value::is_string) && !object.contains_key("enum") =>
        {
            let kind = object.remove("type");
            object.insert("type".to_owned(), json!([kind, "null"]));
            Value::Object(object)
        }
        schema => json!({ "anyOf": [schema, { "type": "null" }] }),
    }
}

/// What another schema says.
pub(crate) fn named(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// One of several.
pub(crate) fn any_of(schemas: &[Value]) -> Value {
    json!({ "anyOf": schemas })
}

/// The metadata of a response.
pub(crate) fn metadata() -> Value {
    metadata_of(metadata_value())
}

/// The metadata that a modification merges.
pub(crate) fn merged_metadata() -> Value {
    metadata_of(or_null(metadata_value()))
}

fn metadata_value() -> Value {
    text(Metadata::VALUE_CHARS_MAX)
}

fn metadata_of(value: Value) -> Value {
    json!({
        "type": "object",
        "maxProperties": Metadata::KEYS_MAX,
        "propertyNames": text(Metadata::KEY_CHARS_MAX),
        "additionalProperties": value,
    })
}

/// An object, field by field.
#[derive(Debug)]
pub(crate) struct Object {
    description: &'static str,
    properties: Map<String, Value>,
    required: Vec<&'static str>,
    open: bool,
}

impl Object {
    /// What a response shows. It may have more fields one day.
    pub(crate) fn shown(description: &'static str) -> Self {
        Self { description, properties: Map::new(), required: Vec::new(), open: true }
    }

    /// What a request may say, and nothing else.
    pub(crate) fn asked(description: &'static str) -> Self {
        Self { open: false, ..Self::shown(description) }
    }

    /// A field that is always there.
    pub(crate) fn has(mut self, name: &'static str, schema: Value, about: &str) -> Self {
        self.required.push(name);
        self.may(name, schema, about)
    }

    /// A field that may be absent.
    pub(crate) fn may(mut self, name: &'static str, schema: Value, about: &str) -> Self {
        self.properties.insert(name.to_owned(), about_it(schema, about));
        self
    }

    /// The fields that every object has which is not in a list of its own.
    pub(crate) fn scoped(self) -> Self {
        self.has("environment", words(cauri::Environment::ALL), "Sandbox or live.").has(
            "livemode",
            flag(),
            "Is it real money?",
        )
    }

    pub(crate) fn schema(self) -> Value {
        let Self { description, properties, required, open } = self;
        let mut schema = json!({
            "type": "object",
            "description": description,
            "properties": properties,
        });
        if let Some(object) = schema.as_object_mut() {
            if !required.is_empty() {
                object.insert("required".to_owned(), required.into());
            }
            if !open {
                object.insert("additionalProperties".to_owned(), false.into());
            }
        }
        schema
    }
}

/// A schema with words for people.
pub(crate) fn about_it(mut schema: Value, about: &str) -> Value {
    if let Some(object) = schema.as_object_mut()
        && !about.is_empty()
    {
        object.insert("description".to_owned(), about.into());
    }
    schema
}
