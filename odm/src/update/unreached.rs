//! Changes of fields of elements, without saying of which.

use super::Update;
use crate::query::elements::{InList, InMap, NamesElement, NamesEntry, Unreached, unreached};

unreached! {
    [InList<L>: NamesElement]
    [InMap<L>: NamesEntry]:
    {
        Update<M>:
            set(value) set_on_insert(value) set_expr(expression) set_literal(value)
            unset() unset_to_default() min(value) max(value) inc(value) dec(value) mul(value) times(factor)
            bit_and(mask) bit_or(mask) bit_xor(mask) current_date() rename(to) remove_key(key)
            push(value) push_each(values) push_with(values, options) add_to_set(value) add_to_set_each(values)
            pull(value) pull_where(condition) pull_all(values) pop_first() pop_last()
            update_where(condition, change);
    }
}
