//! Every attribute word, once; suggestions come from here.

/// `#[odm(…)]` on a struct or an enum.
pub(crate) const CONTAINER: &[&str] = &[
    BUCKET,
    BUDGET,
    CAPPED,
    CHANGE_STREAM_IMAGES,
    COLLATION,
    COLLECTION,
    CRATE,
    DENY_UNDECLARED,
    DEPTH,
    GRIDFS,
    HAS_MANY,
    HAS_ONE,
    HAS_SQUILLIONS,
    INDEX,
    OVERFLOW,
    RESULT,
    RULE,
    SCHEMA,
    SHARD_KEY,
    SUBSET,
    TEXT,
    TIME_SERIES,
    TREE,
    TTL,
    UNIQUE,
    VALIDATION,
    VARIANT_OF,
    VIEW,
    WILDCARD,
];

/// `#[odm(…)]` on a field.
pub(crate) const FIELD: &[&str] = &[
    BSON_TYPE,
    BYTES,
    COPY_OF,
    COUNT_OF,
    CREATED_AT,
    CURRENCY,
    EMBED,
    INDEX,
    ITEM_COUNT,
    ITEMS,
    KEYWORDS,
    LARGEST,
    LENGTH,
    MAX_OF,
    MEAN_OF,
    MIN_OF,
    OFTEN,
    ON_DELETE,
    ONE_OF,
    PATTERN,
    RANGE,
    RECENT,
    RECENT_IN,
    REFERENCES,
    REFERS_TO,
    REST_OF,
    SMALLEST,
    START_OF,
    SUM_OF,
    TOTAL,
    TWO_WAY,
    UNBOUNDED,
    UNIQUE,
    UNIQUE_ITEMS,
    UPDATED_AT,
    VERSION,
];

/// `#[odm(…)]` on a struct that derives `Projection`.
pub(crate) const PROJECTION: &[&str] = &[CRATE, OF];

/// Options of an index.
pub(crate) const INDEX_OPTIONS: &[&str] = &[
    COLLATION,
    DEFAULT_LANGUAGE,
    EXPIRE_AFTER,
    HIDDEN,
    LANGUAGE_OVERRIDE,
    NAME,
    PARTIAL,
    SPARSE,
    UNIQUE,
];

/// Kinds of a key of an index.
pub(crate) const KEY_KINDS: &[&str] = &[SPHERE, ASC, DESC, HASHED];

/// Words of `collation(…)`.
pub(crate) const COLLATIONS: &[&str] = &[
    "alternate",
    "backwards",
    "case_first",
    "case_level",
    "locale",
    "max_variable",
    "normalization",
    "numeric_ordering",
    "strength",
];

/// Words of `keywords(…)`.
pub(crate) const KEYWORD_WORDS: &[&str] = &[ALLOW, FROM, LANGUAGE, MAX];

/// Words of `has_one(…)`, `has_many(…)`, `has_squillions(…)` and `subset(…)`.
pub(crate) const INVERSES: &[&str] = &[ALLOW_SCAN, BY, GUARANTEE, KEY, ON_DELETE];

/// Values of `on_delete` in a relation.
pub(crate) const DELETE_POLICIES: &[&str] = &["cascade", "leave", "pull", "restrict", "set_null"];

/// Values of `guarantee` in a relation.
pub(crate) const GUARANTEES: &[&str] = &["settled", "strict"];

/// Words of `copy_of(…)`.
pub(crate) const COPIES: &[&str] = &[ALLOW_OFTEN, ONCE, REFRESH];

/// Words of `refresh(…)` in `copy_of(…)`.
pub(crate) const REFRESHES: &[&str] = &[AT, OLDER_THAN];

/// Words of `recent(…)`.
pub(crate) const RECENTS: &[&str] = &[MAX, SORT];

/// The patterns of `tree(…)`.
pub(crate) const TREE_PATTERNS: &[&str] = &[
    "array_of_ancestors",
    "child_references",
    "materialized_path",
    "nested_sets",
    "parent_references",
];

/// Words of `tree(…)`, after the pattern.
pub(crate) const TREES: &[&str] = &[
    ANCESTORS,
    CHILDREN,
    COUNT,
    DEPTH,
    GRAPH,
    LEFT,
    MAX_CHILDREN,
    MAX_DEPTH,
    NAME,
    ON_DELETE,
    ORDER,
    PARENT,
    PATH,
    RIGHT,
    SCOPE,
    UNIQUE_AMONG_SIBLINGS,
];

/// Words of `count(…)` in a tree.
pub(crate) const TREE_COUNTS: &[&str] = &[CHILDREN, DESCENDANTS];

/// Values of `on_delete` in a tree.
pub(crate) const TREE_DELETES: &[&str] = &["adopt", "cascade", "make_roots", "restrict"];

/// Words of `bucket(…)`.
pub(crate) const BUCKETS: &[&str] = &[BY, MAX, OF, SPAN];

/// Words of `budget(…)`.
pub(crate) const BUDGETS: &[&str] = &[ALLOW, MAX];

/// Words of `gridfs(…)`.
pub(crate) const GRIDFS_WORDS: &[&str] = &[CHUNK_SIZE];

/// Words of `schema(…)`.
pub(crate) const SCHEMA_WORDS: &[&str] = &[FIELD_NAME, NEWER, STEPS, VERSION];

/// Words of `time_series(…)`.
pub(crate) const TIME_SERIES_WORDS: &[&str] = &[EXPIRE_AFTER, GRANULARITY, META, TIME];

/// Words of `overflow(…)`.
pub(crate) const OVERFLOWS: &[&str] = &[BY, LIST, MAX, NUMBER];

/// Words of `range(…)`.
pub(crate) const RANGES: &[&str] = &["exclusive_max", "exclusive_min", MAX, MIN];

/// Words of `length(…)` and `items(…)`.
pub(crate) const BOUNDS: &[&str] = &[MAX, MIN];

/// Words of `validation(…)`.
pub(crate) const VALIDATIONS: &[&str] = &["action", "level"];

/// Words of `view(…)`.
pub(crate) const VIEWS: &[&str] = &[ON, PIPELINE];

/// Words of `capped(…)`.
pub(crate) const CAPS: &[&str] = &[MAX, "size"];

pub(crate) const ALLOW: &str = "allow";
pub(crate) const ALLOW_OFTEN: &str = "allow_often";
pub(crate) const ALLOW_SCAN: &str = "allow_scan";
pub(crate) const ANCESTORS: &str = "ancestors";
pub(crate) const ASC: &str = "asc";
pub(crate) const AT: &str = "at";
pub(crate) const BSON_TYPE: &str = "bson_type";
pub(crate) const BUCKET: &str = "bucket";
pub(crate) const BUDGET: &str = "budget";
pub(crate) const BY: &str = "by";
pub(crate) const BYTES: &str = "bytes";
pub(crate) const CAPPED: &str = "capped";
pub(crate) const CHANGE_STREAM_IMAGES: &str = "change_stream_images";
pub(crate) const CHILDREN: &str = "children";
pub(crate) const CHUNK_SIZE: &str = "chunk_size";
pub(crate) const COLLATION: &str = "collation";
pub(crate) const COLLECTION: &str = "collection";
pub(crate) const COPY_OF: &str = "copy_of";
pub(crate) const COUNT: &str = "count";
pub(crate) const COUNT_OF: &str = "count_of";
pub(crate) const CRATE: &str = "crate";
pub(crate) const CREATED_AT: &str = "created_at";
pub(crate) const CURRENCY: &str = "currency";
pub(crate) const DEFAULT_LANGUAGE: &str = "default_language";
pub(crate) const DENY_UNDECLARED: &str = "deny_undeclared";
pub(crate) const DEPTH: &str = "depth";
pub(crate) const DESCENDANTS: &str = "descendants";
pub(crate) const DESC: &str = "desc";
pub(crate) const EMBED: &str = "embed";
pub(crate) const EXCEPT: &str = "except";
pub(crate) const EXPIRE_AFTER: &str = "expire_after";
pub(crate) const FIELD_NAME: &str = "field";
pub(crate) const FROM: &str = "from";
pub(crate) const GRANULARITY: &str = "granularity";
pub(crate) const GRAPH: &str = "graph";
pub(crate) const GRIDFS: &str = "gridfs";
pub(crate) const GUARANTEE: &str = "guarantee";
pub(crate) const HASHED: &str = "hashed";
pub(crate) const HAS_MANY: &str = "has_many";
pub(crate) const HAS_ONE: &str = "has_one";
pub(crate) const HAS_SQUILLIONS: &str = "has_squillions";
pub(crate) const HIDDEN: &str = "hidden";
pub(crate) const INDEX: &str = "index";
pub(crate) const ITEMS: &str = "items";
pub(crate) const ITEM_COUNT: &str = "item_count";
pub(crate) const LANGUAGE: &str = "language";
pub(crate) const LANGUAGE_OVERRIDE: &str = "language_override";
/// What to write where a field is called `language` by chance.
pub(crate) const OTHER_LANGUAGE_FIELD: &str = "write `text(…, language_override = \"text_language\")`, a field that need not exist, or `language_override = \"language\"` if it holds a language of text indexes, such as \"english\"";
pub(crate) const KEY: &str = "key";
pub(crate) const KEYWORDS: &str = "keywords";
pub(crate) const LARGEST: &str = "largest";
pub(crate) const LEFT: &str = "left";
pub(crate) const LENGTH: &str = "length";
pub(crate) const LIST: &str = "list";
pub(crate) const MAX: &str = "max";
pub(crate) const MAX_CHILDREN: &str = "max_children";
pub(crate) const MAX_DEPTH: &str = "max_depth";
pub(crate) const MAX_OF: &str = "max_of";
pub(crate) const MEAN_OF: &str = "mean_of";
pub(crate) const META: &str = "meta";
pub(crate) const MIN: &str = "min";
pub(crate) const MIN_OF: &str = "min_of";
pub(crate) const NAME: &str = "name";
pub(crate) const NEWER: &str = "newer";
pub(crate) const NUMBER: &str = "number";
pub(crate) const OF: &str = "of";
pub(crate) const OFTEN: &str = "often";
pub(crate) const OLDER_THAN: &str = "older_than";
pub(crate) const ON: &str = "on";
pub(crate) const ON_DELETE: &str = "on_delete";
pub(crate) const ONCE: &str = "once";
pub(crate) const ONE_OF: &str = "one_of";
pub(crate) const ONLY: &str = "only";
pub(crate) const ORDER: &str = "order";
pub(crate) const OVERFLOW: &str = "overflow";
pub(crate) const PARENT: &str = "parent";
pub(crate) const PARTIAL: &str = "partial";
pub(crate) const PATH: &str = "path";
pub(crate) const PATTERN: &str = "pattern";
pub(crate) const PIPELINE: &str = "pipeline";
pub(crate) const RANGE: &str = "range";
pub(crate) const RECENT: &str = "recent";
pub(crate) const RECENT_IN: &str = "recent_in";
pub(crate) const REFERENCES: &str = "references";
pub(crate) const REFERS_TO: &str = "refers_to";
pub(crate) const REFRESH: &str = "refresh";
pub(crate) const RESULT: &str = "result";
pub(crate) const REST_OF: &str = "rest_of";
pub(crate) const RIGHT: &str = "right";
pub(crate) const RULE: &str = "rule";
pub(crate) const SCHEMA: &str = "schema";
/// The stored name of the version of a document, unless another one is declared.
pub(crate) const SCHEMA_FIELD: &str = "schema_version";
pub(crate) const SCOPE: &str = "scope";
pub(crate) const SERVER: &str = "server";
pub(crate) const SHARD_KEY: &str = "shard_key";
pub(crate) const SMALLEST: &str = "smallest";
pub(crate) const SORT: &str = "sort";
pub(crate) const SPAN: &str = "span";
pub(crate) const SPARSE: &str = "sparse";
pub(crate) const SPHERE: &str = "2dsphere";
pub(crate) const START_OF: &str = "start_of";
pub(crate) const STEPS: &str = "steps";
pub(crate) const SUBSET: &str = "subset";
pub(crate) const SUM_OF: &str = "sum_of";
pub(crate) const TEXT: &str = "text";
pub(crate) const TIME: &str = "time";
pub(crate) const TIME_SERIES: &str = "time_series";
pub(crate) const TOTAL: &str = "total";
pub(crate) const TREE: &str = "tree";
pub(crate) const TTL: &str = "ttl";
pub(crate) const TWO_WAY: &str = "two_way";
pub(crate) const UNBOUNDED: &str = "unbounded";
pub(crate) const UNIQUE: &str = "unique";
pub(crate) const UNIQUE_AMONG_SIBLINGS: &str = "unique_among_siblings";
pub(crate) const UNIQUE_ITEMS: &str = "unique_items";
pub(crate) const UPDATED_AT: &str = "updated_at";
pub(crate) const VALIDATION: &str = "validation";
pub(crate) const VARIANT_OF: &str = "variant_of";
pub(crate) const VERSION: &str = "version";
pub(crate) const VIEW: &str = "view";
pub(crate) const WILDCARD: &str = "wildcard";

/// How each word is written.
const USAGES: &[(&str, &str)] = &[
    (ALLOW, "`allow = \"the reason\"`"),
    (
        BUCKET,
        "`bucket(of = Reading, by = sensor, max = 200, span = \"1h\")`",
    ),
    (
        BUDGET,
        "`budget = \"1MiB\"`, or `budget(max = \"1MiB\", allow = \"the reason\")`",
    ),
    (BYTES, "`bytes(max = \"64KiB\")`"),
    (DEPTH, "with a number: `depth = 3`"),
    (UNBOUNDED, "`unbounded = \"the reason\"`"),
    (BSON_TYPE, "`bson_type = \"date\"`"),
    (CAPPED, "`capped(size = 1_048_576, max = 1_000)`"),
    (CHANGE_STREAM_IMAGES, "alone: `change_stream_images`"),
    (COLLATION, "`collation(locale = \"en\", strength = 2)`"),
    (COLLECTION, "`collection = \"books\"`"),
    (CRATE, "`crate = path::to::odm`"),
    (
        COPY_OF,
        "`copy_of(host.ipaddr)`: a reference beside the field, and a field of the document that it leads to",
    ),
    (
        COUNT_OF,
        "`count_of(reviews)`: the name of a relation of this struct, alone",
    ),
    (CREATED_AT, "alone: `created_at`"),
    (
        CURRENCY,
        "`currency = field`, the name of the field with the currency of the amount",
    ),
    (DEFAULT_LANGUAGE, "`default_language = \"english\"`"),
    (DENY_UNDECLARED, "alone: `deny_undeclared`"),
    (EMBED, "`embed(few, max = 12)`, or `embed` for one document"),
    (EXCEPT, "`except(field, other)`"),
    (EXPIRE_AFTER, "`expire_after = \"30d\"`"),
    (ALLOW_OFTEN, "`allow_often = \"the reason\"`"),
    (OFTEN, "alone: `often`"),
    (ALLOW_SCAN, "`allow_scan = \"the reason\"`"),
    (
        AT,
        "`at = field`, the name of a field with the time of the copy",
    ),
    (BY, "`by = field`"),
    (GRIDFS, "`gridfs`, or `gridfs(chunk_size = \"1MiB\")`"),
    (
        GRANULARITY,
        "`granularity = \"seconds\"`, `\"minutes\"` or `\"hours\"`",
    ),
    (GUARANTEE, "`guarantee = strict` or `guarantee = settled`"),
    (HAS_MANY, "`has_many(books: Book, by = publisher)`"),
    (HAS_ONE, "`has_one(details: MovieDetails, by = movie)`"),
    (
        HAS_SQUILLIONS,
        "`has_squillions(messages: LogMessage, by = host)`",
    ),
    (HIDDEN, "alone: `hidden`"),
    (
        INDEX,
        "`index` or `index(desc)` on a field, `index(field, other = desc)` on the struct",
    ),
    (ITEMS, "`items(min = 1, max = 10)`"),
    (ITEM_COUNT, "alone: `item_count`"),
    (KEY, "`key = isbn`"),
    (
        KEYWORDS,
        "`keywords(max = 100)`, or `keywords(from(title, body), language = \"english\", max = 100)`",
    ),
    (LARGEST, "`largest(celsius)`: a field of the items"),
    (LANGUAGE_OVERRIDE, "`language_override = \"field\"`"),
    (
        LENGTH,
        "`length(min = 1, max = 100)` for a text, `length = 60` for a list that always has 60 elements",
    ),
    (MAX, "with a number: `max = 10`"),
    (
        MAX_OF,
        "`max_of(reviews.stars)`: the name of a relation of this struct, and a field of the documents that it leads to",
    ),
    (
        MEAN_OF,
        "`mean_of(reviews.stars)`: the name of a relation of this struct, and a field of the documents that it leads to",
    ),
    (META, "`meta = field`, the field that tells series apart"),
    (MIN, "with a number: `min = 1`"),
    (
        MIN_OF,
        "`min_of(reviews.stars)`: the name of a relation of this struct, and a field of the documents that it leads to",
    ),
    (NAME, "`name = \"by_title\"`"),
    (SHARD_KEY, "`shard_key(host = hashed, time)`"),
    (OF, "`of = Model`"),
    (
        REFRESH,
        "`refresh(older_than = \"1d\", at = checked)`, with a field for the time of the copy",
    ),
    (OLDER_THAN, "`older_than = \"1d\"`"),
    (ON, "`on = Book`"),
    (ON_DELETE, "`on_delete = cascade`"),
    (
        OVERFLOW,
        "`overflow(list = readers, by = book, number = number, max = 1_000)`",
    ),
    (ONE_OF, "`one_of(\"a\", \"b\")`"),
    (ONLY, "`only(field, other)`"),
    (PARTIAL, "`partial = |m| m.field.exists(true)`"),
    (PATTERN, "`pattern = \"^[A-Z]\"`"),
    (
        PIPELINE,
        "`pipeline = stages`, the path of a function that returns a `Vec` of stages",
    ),
    (RANGE, "`range(min = 0, max = 100)`"),
    (RECENT, "`recent(LogMessage, max = 1_000, sort = -time)`"),
    (RECENT_IN, "`recent_in = logmsgs`"),
    (REFERENCES, "`references(many, max = 100)`"),
    (REFERS_TO, "`refers_to(Book, by = isbn)`"),
    (RESULT, "alone: `result`"),
    (REST_OF, "`rest_of = details`"),
    (RULE, "`rule(\"what must hold\", |m| m.field.gte(0))`"),
    (
        SCHEMA,
        "`schema(version = 2, steps(split_name))`, with a function for each step",
    ),
    (SMALLEST, "`smallest(celsius)`: a field of the items"),
    (
        SPAN,
        "`span = \"1h\"`, or `span = 1_000` where the items are ordered by a whole number",
    ),
    (SPARSE, "alone: `sparse`"),
    (
        START_OF,
        "`start_of(at)`: the field by which the items are ordered",
    ),
    (
        SORT,
        "`sort = time`, or `sort = -time` for the newest first",
    ),
    (SUBSET, "`subset(details: MovieDetails, by = movie)`"),
    (
        SUM_OF,
        "`sum_of(reviews.stars)`: the name of a relation of this struct, and a field of the documents that it leads to",
    ),
    (
        TIME,
        "`time = field`, the field with the time of a document",
    ),
    (
        TIME_SERIES,
        "`time_series(time = at, meta = sensor, granularity = \"minutes\")`",
    ),
    (TOTAL, "`total(celsius)`: a field of the items"),
    (TEXT, "`text(field, other(weight = 10))`"),
    (
        TREE,
        "`tree(materialized_path, path = path, order = rank)`, with the pattern first",
    ),
    (TTL, "`ttl(field, after = \"30d\")`"),
    (TWO_WAY, "`two_way = owner`"),
    (
        UNIQUE,
        "`unique` on a field, `unique(field, other)` on the struct",
    ),
    (UNIQUE_ITEMS, "alone: `unique_items`"),
    (
        UPDATED_AT,
        "`updated_at`, or `updated_at(server)` for the server's clock",
    ),
    (
        VALIDATION,
        "`validation(level = \"moderate\", action = \"warn\")`",
    ),
    (VARIANT_OF, "`variant_of = Medium`"),
    (VERSION, "alone: `version`"),
    (VIEW, "`view(on = Book, pipeline = stages)`"),
    (
        WILDCARD,
        "`wildcard`, `wildcard(field)` or `wildcard(only(field, other))`",
    ),
];

/// How each word of `tree(…)` is written.
const TREE_USAGES: &[(&str, &str)] = &[
    (ANCESTORS, "`ancestors = field`"),
    (CHILDREN, "`children = field`"),
    (COUNT, "`count(children = field, descendants = field)`"),
    (DEPTH, "`depth = field`"),
    (GRAPH, "alone: `graph`"),
    (LEFT, "`left = field`"),
    (MAX_CHILDREN, "with a number: `max_children = 100`"),
    (MAX_DEPTH, "with a number: `max_depth = 10`"),
    (NAME, "`name = ByRegion`"),
    (ON_DELETE, "`on_delete = cascade`"),
    (ORDER, "`order = field`"),
    (PARENT, "`parent = field`"),
    (PATH, "`path = field`"),
    (RIGHT, "`right = field`"),
    (SCOPE, "`scope = field`"),
    (UNIQUE_AMONG_SIBLINGS, "`unique_among_siblings(field)`"),
];

/// How the words of `schema(…)` are written.
const SCHEMA_USAGES: &[(&str, &str)] = &[
    (FIELD_NAME, "`field = \"schemaVersion\"`"),
    (NEWER, "`newer = error` or `newer = read`"),
    (
        STEPS,
        "`steps(split_name, add_currency)`, the paths of functions `fn(&mut bson::Document) -> Result<(), E>`",
    ),
    (VERSION, "with a number: `version = 2`"),
];

/// How `word` is written, for errors about another spelling.
pub(crate) fn usage(word: &str) -> Option<&'static str> {
    of_word(USAGES, word)
}

/// How a word of `tree(…)` is written.
pub(crate) fn tree_usage(word: &str) -> Option<&'static str> {
    of_word(TREE_USAGES, word)
}

/// How a word of `schema(…)` is written.
pub(crate) fn schema_usage(word: &str) -> Option<&'static str> {
    of_word(SCHEMA_USAGES, word)
}

fn of_word(usages: &'static [(&str, &str)], word: &str) -> Option<&'static str> {
    let mut usages = usages.iter();
    usages
        .find(|(one, _)| *one == word)
        .map(|(_, usage)| *usage)
}

/// The candidate that was probably meant.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(3) / 3)
        .min()
        .map(|(_, candidate)| candidate)
}

/// `; did you mean …?`, or the list of candidates.
pub(crate) fn hint<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    if let Some(meant) = nearest(word, candidates.clone()) {
        return format!("; did you mean `{meant}`?");
    }
    let mut all: Vec<_> = candidates
        .into_iter()
        .map(|one| format!("`{one}`"))
        .collect();
    // All attributes of a field, but not all fields of a large struct.
    if all.len() > 40 {
        all.truncate(40);
        all.push("…".to_owned());
    }
    match all.as_slice() {
        [] => String::new(),
        [one] => format!("; expected {one}"),
        several => format!("; expected one of {}", several.join(", ")),
    }
}

/// The number of insertions, removals, replacements and swaps of neighbours between two words.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, left) in a.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, right) in b.iter().enumerate() {
            let at = |cells: &[usize], column: usize| {
                cells.get(column).copied().unwrap_or(usize::MAX - 1)
            };
            let mut best = (at(&above, column) + usize::from(left != right))
                .min(at(&above, column + 1) + 1)
                .min(at(&line, column) + 1);
            let swapped = row > 0
                && column > 0
                && a.get(row - 1) == Some(right)
                && b.get(column - 1) == Some(left);
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions() {
        assert_eq!(nearest("uniqe", CONTAINER.iter().copied()), Some("unique"));
        assert_eq!(nearest("idnex", FIELD.iter().copied()), Some("index"));
        assert_eq!(nearest("frobnicate", FIELD.iter().copied()), None);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn every_attribute_has_a_usage() {
        for list in [CONTAINER, FIELD, PROJECTION] {
            for word in list {
                assert!(usage(word).is_some(), "{word}");
            }
        }
        for word in SCHEMA_WORDS {
            assert!(schema_usage(word).is_some(), "{word}");
        }
        for word in TREES {
            assert!(tree_usage(word).is_some(), "{word}");
        }
    }

    #[test]
    fn lists_are_sorted() {
        for list in [
            CONTAINER,
            FIELD,
            PROJECTION,
            INDEX_OPTIONS,
            KEY_KINDS,
            COLLATIONS,
            INVERSES,
            DELETE_POLICIES,
            TREE_PATTERNS,
            TREES,
            TREE_COUNTS,
            TREE_DELETES,
            RECENTS,
            BUDGETS,
            RANGES,
            BOUNDS,
            VALIDATIONS,
            CAPS,
            VIEWS,
            SCHEMA_WORDS,
        ] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }
}
