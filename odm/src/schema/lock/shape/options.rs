//! The options of a collection, its relations and its trees.

use bson::{Bson, Document, doc};

use super::super::{Fact, LockedModel};
use super::projected;
use crate::error::Result;
use crate::model::tree::{Pattern, RootParent, TreeDelete};
use crate::model::{
    BucketMeta, Clock, Guarantee, InverseKind, InverseMeta, KeptKind, ModelMeta, OnDelete,
    OverflowMeta, RecentMeta, TreeMeta, ValidationAction, ValidationLevel,
};
use crate::schema::indexes::{collation, i64_to_bson};
use crate::schema::shard_key;

/// Adds the options that a model declares; those that it leaves at their default have no line.
pub(super) fn add(model: &'static ModelMeta, lines: &mut LockedModel) -> Result<()> {
    let mut option = |name: &str, value: Document| lines.document(Fact::Option, name, &value);
    let level = match model.validation_level {
        ValidationLevel::Strict => "strict",
        ValidationLevel::Moderate => "moderate",
        ValidationLevel::Off => "off",
    };
    let action = match model.validation_action {
        ValidationAction::Error => "error",
        ValidationAction::Warn => "warn",
    };
    if (level, action) != ("strict", "error") {
        option("validation", doc! {"level": level, "action": action});
    }
    if let Some(capped) = model.capped {
        let mut value = doc! {"size": unsigned(capped.size)};
        value.extend(capped.max.map(|max| ("max".to_owned(), unsigned(max))));
        option("capped", value);
    }
    if let Some(key) = shard_key(model)? {
        option("shard_key", key);
    }
    if let Some(chunk_size) = model.gridfs {
        option(
            "gridfs",
            doc! {"chunk_size": i64_to_bson(chunk_size.into())},
        );
    }
    if let Some(meta) = model.bucket {
        option("bucket", bucket(meta));
    }
    if let Some(meta) = model.overflow {
        option("overflow", overflow(meta));
    }
    if let Some(series) = &model.time_series {
        let seconds = series.expire_after_seconds;
        let all = [
            ("time", Some(series.time.into())),
            ("meta", series.meta.map(Bson::from)),
            ("granularity", series.granularity.map(Bson::from)),
            (
                "expire_after_seconds",
                seconds.map(|seconds| i64_to_bson(seconds.into())),
            ),
        ];
        option("time_series", given(all));
    }
    if let Some(view) = model.view {
        let pipeline = (view.pipeline)(&|declared| declared.to_owned())?;
        option(
            "view",
            doc! {"on": (view.on)().collection, "pipeline": pipeline},
        );
    }
    if model.change_stream_images {
        option("change_stream_images", doc! {"enabled": true});
    }
    if let Some(meta) = &model.collation {
        option("collation", collation::document(meta));
    }
    if let Some(schema) = model.schema {
        option("schema_version", doc! {"field": schema.field});
    }
    add_maintained(model, "", lines);
    Ok(())
}

/// Adds the options about maintained fields, under names that start with `at`.
pub(super) fn add_maintained(model: &ModelMeta, at: &str, lines: &mut LockedModel) {
    let mut option = |name: &str, value: Document| {
        lines.document(Fact::Option, &format!("{at}{name}"), &value);
    };
    if let Some(field) = model.version {
        option("version", doc! {"field": field});
    }
    if let Some(times) = model.timestamps {
        let clock = match times.clock {
            Clock::Client => "client",
            Clock::Server => "server",
        };
        let all = [
            ("created_at", times.created_at.map(Bson::from)),
            ("updated_at", times.updated_at.map(Bson::from)),
            ("clock", Some(clock.into())),
        ];
        option("timestamps", given(all));
    }
}

fn unsigned(number: u64) -> Bson {
    i64_to_bson(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The values that are there, in the order of their names.
fn given<const N: usize>(values: [(&str, Option<Bson>); N]) -> Document {
    let values = values.into_iter();
    let values = values.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let mut values: Vec<_> = values.collect();
    values.sort_by(|one, other| one.0.cmp(&other.0));
    values.into_iter().collect()
}

fn bucket(meta: &BucketMeta) -> Document {
    let mut kept: Vec<_> = meta.kept.iter().collect();
    kept.sort_by_key(|one| one.name);
    let kept = kept.into_iter().map(|one| {
        let kind = match one.kind {
            KeptKind::Smallest => "smallest",
            KeptKind::Largest => "largest",
            KeptKind::Total => "total",
        };
        let of = one.path.join(".");
        (one.name.to_owned(), Bson::from(format!("{kind} of {of}")))
    });
    let kept: Document = kept.collect();
    doc! {
        "by": meta.by.to_vec(),
        "start": meta.start,
        "time": meta.time.join("."),
        "items": meta.items,
        "count": meta.count,
        "max": i64_to_bson(meta.max.into()),
        "span": i64_to_bson(meta.span),
        "kept": kept,
    }
}

fn overflow(meta: &OverflowMeta) -> Document {
    doc! {
        "of": (meta.of)().collection,
        "by": meta.by,
        "number": meta.number,
        "list": meta.list,
        "max": i64_to_bson(meta.max.into()),
    }
}

pub(super) fn inverse(meta: &InverseMeta) -> Document {
    let kind = match meta.kind {
        InverseKind::One => "has_one",
        InverseKind::Many => "has_many",
        InverseKind::Squillions => "has_squillions",
        InverseKind::Rest => "subset",
    };
    let on_delete = meta.on_delete.map(|rule| match rule {
        OnDelete::Restrict => "restrict",
        OnDelete::Cascade => "cascade",
        OnDelete::SetNull => "set_null",
        OnDelete::Pull => "pull",
        OnDelete::Leave => "leave",
    });
    let guarantee = meta.guarantee.map(|one| match one {
        Guarantee::Strict => "strict",
        Guarantee::Settled => "settled",
    });
    given([
        (kind, Some((meta.target)().collection.into())),
        ("by", Some(meta.by.join(".").into())),
        ("key", Some(meta.key.join(".").into())),
        ("on_delete", on_delete.map(Bson::from)),
        ("guarantee", guarantee.map(Bson::from)),
    ])
}

pub(super) fn recent(meta: &RecentMeta) -> Document {
    doc! {
        "recent": (meta.source)().collection,
        "fields": projected(meta.copied),
        "max": i64_to_bson(meta.max.into()),
        "sort": meta.sort,
        "newest": if meta.descending { "first" } else { "last" },
    }
}

pub(super) fn tree(meta: &TreeMeta) -> Document {
    let pattern = match meta.pattern {
        Pattern::ParentReferences => "parent_references",
        Pattern::ChildReferences => "child_references",
        Pattern::ArrayOfAncestors => "array_of_ancestors",
        Pattern::MaterializedPath => "materialized_path",
        Pattern::NestedSets => "nested_sets",
    };
    let on_delete = match meta.on_delete {
        TreeDelete::Restrict => "restrict",
        TreeDelete::Cascade => "cascade",
        TreeDelete::Adopt => "adopt",
        TreeDelete::MakeRoots => "make_roots",
    };
    let roots = meta.parent.map(|(_, root)| match root {
        RootParent::Null => "null",
        RootParent::Zero => "zero",
    });
    let text = |name: Option<&str>| name.map(Bson::from);
    given([
        ("pattern", Some(pattern.into())),
        ("parent", text(meta.parent.map(|(name, _)| name))),
        ("roots", text(roots)),
        ("children", text(meta.children)),
        ("ancestors", text(meta.ancestors)),
        ("path", text(meta.path.map(|(name, _)| name))),
        ("left", text(meta.bounds.map(|(left, _)| left))),
        ("right", text(meta.bounds.map(|(_, right)| right))),
        ("depth", text(meta.depth)),
        ("order", text(meta.order)),
        ("scope", text(meta.scope)),
        ("child_count", text(meta.child_count)),
        ("descendant_count", text(meta.descendant_count)),
        (
            "max_depth",
            meta.max_depth.map(|depth| i64_to_bson(depth.into())),
        ),
        ("on_delete", Some(on_delete.into())),
        ("graph", meta.is_graph.then_some(true.into())),
    ])
}
