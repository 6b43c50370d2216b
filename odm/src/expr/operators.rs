//! The operators that have methods: their names, the methods, the kinds of results, and the first version that has them.
//!
//! The methods take the names from here. A test compares the table with MongoDB's own list.

/// An operator of MongoDB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operator {
    pub(crate) name: &'static str,
    /// The method, or the operator of Rust.
    pub(crate) method: &'static str,
    /// The kind of the result: `any` where it is that of an argument.
    pub(crate) result: &'static str,
    /// The first version that has it.
    pub(crate) since: &'static str,
}

macro_rules! operators {
    ($($constant:ident = $name:literal, $method:literal, $result:literal, $since:literal;)*) => {
        $(pub(crate) const $constant: Operator = Operator {
            name: $name,
            method: $method,
            result: $result,
            since: $since,
        };)*

        /// All of them.
        #[cfg(test)]
        pub(crate) const ALL: &[Operator] = &[$($constant),*];
    };
}

operators! {
    ADD = "$add", "a + b", "number", "2.6";
    SUBTRACT = "$subtract", "a - b", "number", "2.6";
    MULTIPLY = "$multiply", "a * b", "number", "3.2";
    DIVIDE = "$divide", "a / b", "number", "3.2";
    MOD = "$mod", "a % b", "number", "3.2";
    ABS = "$abs", "abs", "number", "3.2";
    CEIL = "$ceil", "ceil", "number", "3.2";
    FLOOR = "$floor", "floor", "number", "3.2";
    ROUND = "$round", "round", "number", "3.2";
    TRUNC = "$trunc", "trunc_number", "number", "3.2";
    SQRT = "$sqrt", "sqrt", "number", "3.2";
    POW = "$pow", "pow", "number", "3.2";
    EXP = "$exp", "exp", "number", "4.2";
    LN = "$ln", "ln", "number", "4.2";
    LOG10 = "$log10", "log10", "number", "4.2";
    EQ = "$eq", "eq", "bool", "2.6";
    NE = "$ne", "ne", "bool", "2.6";
    GT = "$gt", "gt", "bool", "2.6";
    GTE = "$gte", "gte", "bool", "2.6";
    LT = "$lt", "lt", "bool", "2.6";
    LTE = "$lte", "lte", "bool", "2.6";
    AND = "$and", "a & b", "bool", "2.6";
    OR = "$or", "a | b", "bool", "2.6";
    NOT = "$not", "!", "bool", "2.6";
    IF_NULL = "$ifNull", "or", "any", "3.0";
    COND = "$cond", "if_", "any", "3.0";
    SWITCH = "$switch", "cases", "any", "4.0";
    TO_INT = "$toInt", "to_int", "number", "4.0";
    TO_LONG = "$toLong", "to_long", "number", "4.0";
    TO_DOUBLE = "$toDouble", "to_double", "number", "4.0";
    TO_DECIMAL = "$toDecimal", "to_decimal", "number", "4.0";
    TO_STRING = "$toString", "to_text", "text", "4.0";
    TO_DATE = "$toDate", "to_date", "date", "4.0";
    TO_OBJECT_ID = "$toObjectId", "to_object_id", "id", "4.0";
    TYPE = "$type", "bson_type", "text", "3.4";
    CONCAT = "$concat", "concat", "text", "3.4";
    TO_LOWER = "$toLower", "to_lower", "text", "3.0";
    TO_UPPER = "$toUpper", "to_upper", "text", "3.0";
    TRIM = "$trim", "trim", "text", "4.0";
    STR_LEN_CP = "$strLenCP", "char_count", "number", "3.0";
    SUBSTR_CP = "$substrCP", "substring", "text", "3.0";
    SPLIT = "$split", "split", "list", "3.4";
    REPLACE_ALL = "$replaceAll", "replace_all", "text", "4.4";
    REGEX_MATCH = "$regexMatch", "matches", "bool", "4.2";
    INDEX_OF_CP = "$indexOfCP", "index_of", "number", "3.4";
    YEAR = "$year", "year", "number", "2.6";
    MONTH = "$month", "month", "number", "2.6";
    DAY_OF_MONTH = "$dayOfMonth", "day_of_month", "number", "2.6";
    DAY_OF_YEAR = "$dayOfYear", "day_of_year", "number", "2.6";
    DAY_OF_WEEK = "$dayOfWeek", "day_of_week", "number", "2.6";
    ISO_DAY_OF_WEEK = "$isoDayOfWeek", "iso_day_of_week", "number", "3.4";
    ISO_WEEK = "$isoWeek", "iso_week", "number", "3.4";
    HOUR = "$hour", "hour", "number", "2.6";
    MINUTE = "$minute", "minute", "number", "2.6";
    SECOND = "$second", "second", "number", "2.6";
    DATE_TRUNC = "$dateTrunc", "trunc", "date", "5.1";
    DATE_TO_STRING = "$dateToString", "format", "text", "3.0";
    DATE_ADD = "$dateAdd", "add_time", "date", "5.0";
    DATE_DIFF = "$dateDiff", "until", "number", "5.0";
    SIZE = "$size", "size", "number", "3.2";
    ARRAY_ELEM_AT = "$arrayElemAt", "at", "any", "3.2";
    FIRST = "$first", "first_item", "any", "4.4";
    LAST = "$last", "last_item", "any", "4.4";
    SLICE = "$slice", "slice", "list", "3.2";
    REVERSE_ARRAY = "$reverseArray", "reversed", "list", "3.2";
    IN = "$in", "contains", "bool", "3.4";
    CONCAT_ARRAYS = "$concatArrays", "concat_list", "list", "3.2";
    SET_UNION = "$setUnion", "union", "list", "3.0";
    SET_INTERSECTION = "$setIntersection", "intersection", "list", "3.0";
    SET_DIFFERENCE = "$setDifference", "difference", "list", "3.0";
    MAP = "$map", "map", "list", "3.2";
    FILTER = "$filter", "filter", "list", "3.2";
    ANY_ELEMENT_TRUE = "$anyElementTrue", "any", "bool", "3.0";
    ALL_ELEMENTS_TRUE = "$allElementsTrue", "all", "bool", "3.0";
    SUM = "$sum", "sum", "number", "3.2";
    AVG = "$avg", "avg", "number", "3.2";
    MIN = "$min", "min_item", "any", "3.2";
    MAX = "$max", "max_item", "any", "3.2";
    META = "$meta", "text_score", "number", "4.4";
    GET_FIELD = "$getField", "get", "any", "5.0";
}
