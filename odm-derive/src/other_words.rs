//! Attribute words of other mappers and of serde, each with the way to say it here.

/// Words on a field. Some hold for all fields of a struct, too.
const ON_FIELDS: &[(&[&str], &str)] = &[
    (
        &["_id", "id", "key", "oid", "pk", "primary", "primary_key"],
        "the id is the field that is stored as `_id`: write `#[serde(rename = \"_id\")]`",
    ),
    (
        &["alias", "column", "db_field", "field", "name", "rename"],
        "the stored name is serde's: write `#[serde(rename = \"…\")]`",
    ),
    (
        &["default", "default_value"],
        "the value of a missing field is serde's: write `#[serde(default)]`",
    ),
    (
        &["exclude", "ignore", "skip", "transient"],
        "a field that is not stored is serde's: write `#[serde(skip)]`",
    ),
    (&["flatten"], "this is serde's: write `#[serde(flatten)]`"),
    (
        &["skip_serializing_if"],
        "this is serde's: write `#[serde(skip_serializing_if = \"…\")]`",
    ),
    (
        &["not_null", "required"],
        "a field is required unless its type is an `Option`",
    ),
    (
        &["null", "nullable", "optional"],
        "declare the type of the field as an `Option`",
    ),
    (
        &["gt", "gte", "lt", "lte", "max", "maximum", "min", "minimum"],
        "write `range(min = 0, max = 100)`",
    ),
    (
        &[
            "len",
            "max_len",
            "max_length",
            "maxlength",
            "min_len",
            "min_length",
            "minlength",
            "not_empty",
            "size",
        ],
        "write `length(min = 1, max = 100)`",
    ),
    (
        &["max_items", "min_items"],
        "write `items(min = 1, max = 10)`",
    ),
    (
        &[
            "email", "format", "match", "matches", "regex", "regexp", "url",
        ],
        "write `pattern = \"…\"` with a regular expression",
    ),
    (
        &["allowed", "choices", "enum", "values"],
        "write `one_of(\"a\", \"b\")`, or declare an enum that derives `Embedded`",
    ),
    (
        &[
            "belongs_to",
            "foreign_key",
            "link",
            "ref",
            "reference",
            "refers",
        ],
        "the type of the field is the reference: declare it as `Ref<Model>`",
    ),
    (
        &["populate", "relation", "relations"],
        "declare the type of the field as `Ref<Model>`, or a relation on the struct, such as `has_many(books: Book, by = author)`",
    ),
    (
        &[
            "auto_now_add",
            "created",
            "creation_date",
            "timestamp",
            "timestamps",
        ],
        "write `created_at` on a field for the time of the insert, and `updated_at` on one for that of the last change",
    ),
    (&["auto_now", "modified", "updated"], "write `updated_at`"),
    (
        &["indexed", "indices", "indexes"],
        "write `index` on a field, or `index(field, other = desc)` on the struct",
    ),
    (
        &["unique_index", "uniqueness"],
        "write `unique` on a field, or `unique(field, other)` on the struct",
    ),
    (
        &[
            "expireAfterSeconds",
            "expire",
            "expire_after_seconds",
            "expires",
        ],
        "write `ttl(field, after = \"30d\")` on the struct",
    ),
    (
        &["check", "custom", "validate", "validator"],
        "write `rule(\"what must hold\", |m| m.field.gte(0))` on the struct",
    ),
];

/// Words on a struct or an enum.
const ON_CONTAINERS: &[(&[&str], &str)] = &[
    (
        &["collection_name", "name", "table", "table_name"],
        "write `collection = \"books\"`",
    ),
    (
        &["database", "database_name", "db"],
        "the database is that of the handle, `Db::connect(\"mongodb://host/database\")`",
    ),
    (
        &["rename", "rename_all"],
        "stored names are serde's: write `#[serde(rename_all = \"camelCase\")]`",
    ),
    (
        &[
            "default",
            "deny_unknown_fields",
            "flatten",
            "tag",
            "untagged",
        ],
        "this is serde's: write it in `#[serde(…)]`",
    ),
    (
        &["strict"],
        "write `deny_undeclared` for a validator that refuses other fields",
    ),
    (
        &["capped_size", "size"],
        "write `capped(size = 1_048_576, max = 1_000)`",
    ),
    (
        &["discriminator", "inheritance"],
        "derive `Document` for an enum with `#[serde(tag = \"…\")]`",
    ),
    (&["compound_index"], "write `index(field, other = desc)`"),
    (&["unique_together"], "write `unique(field, other)`"),
];

/// How to say here what the word says elsewhere, on a field.
pub(crate) fn on_field(word: &str) -> Option<&'static str> {
    find(ON_FIELDS, word)
}

/// How to say here what the word says elsewhere, on a struct or an enum.
pub(crate) fn on_container(word: &str) -> Option<&'static str> {
    find(ON_CONTAINERS, word).or_else(|| on_field(word))
}

fn find(table: &'static [(&[&str], &str)], word: &str) -> Option<&'static str> {
    let mut rows = table.iter();
    rows.find(|(words, _)| words.contains(&word))
        .map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::{ON_CONTAINERS, ON_FIELDS};
    use crate::attribute_names::{CONTAINER, FIELD};

    #[test]
    fn words_are_those_of_others() {
        for (table, own) in [(ON_FIELDS, FIELD), (ON_CONTAINERS, CONTAINER)] {
            let mut seen = std::collections::BTreeSet::new();
            for word in table.iter().flat_map(|(words, _)| *words) {
                assert!(!own.contains(word) && seen.insert(word), "{word}");
            }
        }
    }
}
