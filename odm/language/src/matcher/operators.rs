//! The query operators: which are known, and how each is treated. The tables are sorted; the support table is generated
//! from them.

/// An operator among the fields of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TopLevel {
    AlwaysFalse,
    AlwaysTrue,
    And,
    Comment,
    Expr,
    JsonSchema,
    Nor,
    Or,
    SampleRate,
    Text,
    /// mongod has the operator, the engine does not.
    Unsupported,
}

/// An operator on a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnField {
    All,
    BitsAllClear,
    BitsAllSet,
    BitsAnyClear,
    BitsAnySet,
    ElemMatch,
    Eq,
    Exists,
    GeoIntersects,
    GeoWithin,
    Gt,
    Gte,
    In,
    Lt,
    Lte,
    Mod,
    Ne,
    Near,
    Nin,
    Not,
    Options,
    Regex,
    Size,
    Type,
}

/// Sorted by name.
const TOP_LEVEL: &[(&str, TopLevel)] = &[
    ("$alwaysFalse", TopLevel::AlwaysFalse),
    ("$alwaysTrue", TopLevel::AlwaysTrue),
    ("$and", TopLevel::And),
    ("$comment", TopLevel::Comment),
    ("$expr", TopLevel::Expr),
    ("$jsonSchema", TopLevel::JsonSchema),
    ("$nor", TopLevel::Nor),
    ("$or", TopLevel::Or),
    ("$sampleRate", TopLevel::SampleRate),
    ("$text", TopLevel::Text),
    ("$where", TopLevel::Unsupported),
];

/// Sorted by name.
const ON_FIELD: &[(&str, OnField)] = &[
    ("$all", OnField::All),
    ("$bitsAllClear", OnField::BitsAllClear),
    ("$bitsAllSet", OnField::BitsAllSet),
    ("$bitsAnyClear", OnField::BitsAnyClear),
    ("$bitsAnySet", OnField::BitsAnySet),
    ("$elemMatch", OnField::ElemMatch),
    ("$eq", OnField::Eq),
    ("$exists", OnField::Exists),
    ("$geoIntersects", OnField::GeoIntersects),
    ("$geoNear", OnField::Near),
    ("$geoWithin", OnField::GeoWithin),
    ("$gt", OnField::Gt),
    ("$gte", OnField::Gte),
    ("$in", OnField::In),
    ("$lt", OnField::Lt),
    ("$lte", OnField::Lte),
    ("$mod", OnField::Mod),
    ("$ne", OnField::Ne),
    ("$near", OnField::Near),
    ("$nearSphere", OnField::Near),
    ("$nin", OnField::Nin),
    ("$not", OnField::Not),
    ("$options", OnField::Options),
    ("$regex", OnField::Regex),
    ("$size", OnField::Size),
    ("$type", OnField::Type),
    ("$within", OnField::GeoWithin),
];

/// Names inside the argument of an operator, or beside it; sorted by operator.
const OPTIONS: &[(&str, &[&str])] = &[
    ("$geoIntersects", &["$centerSphere", "$geometry"]),
    (
        "$geoNear",
        &["$geometry", "$maxDistance", "$minDistance", "$uniqueDocs"],
    ),
    (
        "$geoWithin",
        &[
            "$box",
            "$center",
            "$centerSphere",
            "$geometry",
            "$polygon",
            "$uniqueDocs",
        ],
    ),
    (
        "$near",
        &["$geometry", "$maxDistance", "$minDistance", "$uniqueDocs"],
    ),
    (
        "$nearSphere",
        &["$geometry", "$maxDistance", "$minDistance", "$uniqueDocs"],
    ),
    ("$regex", &["$options"]),
    (
        "$text",
        &[
            "$caseSensitive",
            "$diacriticSensitive",
            "$language",
            "$search",
        ],
    ),
];

/// The operators that have options, each with its options.
pub fn known_options() -> Vec<(&'static str, &'static [&'static str])> {
    OPTIONS.to_vec()
}

/// The row of an operator at the top level of a filter.
pub(super) fn top_level(name: &str) -> Option<(&'static str, TopLevel)> {
    row(TOP_LEVEL, name)
}

/// The row of an operator on a field.
pub(super) fn on_field(name: &str) -> Option<(&'static str, OnField)> {
    row(ON_FIELD, name)
}

fn row<T: Copy>(table: &[(&'static str, T)], name: &str) -> Option<(&'static str, T)> {
    let index = table.binary_search_by_key(&name, |(known, _)| known).ok()?;
    table.get(index).copied()
}

/// Every operator and whether it is supported: at the top level of a filter, then on a field.
pub fn known() -> [Vec<(&'static str, bool)>; 2] {
    let top_level = TOP_LEVEL.iter();
    let on_field = ON_FIELD.iter();
    [
        top_level
            .map(|(name, operator)| (*name, *operator != TopLevel::Unsupported))
            .collect(),
        on_field.map(|(name, _)| (*name, true)).collect(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(TOP_LEVEL.is_sorted_by_key(|(name, _)| *name));
        assert!(ON_FIELD.is_sorted_by_key(|(name, _)| *name));
    }
}
