//! Converts options to the driver's types.

use bson::Document;
use mongodb::change_stream::event::ResumeToken;
use mongodb::options as theirs;
use mongodb::options::SelectionCriteria;

use crate::error::{Error, Result};
use crate::store::options::preference::Mode;
use crate::store::options::{
    Acknowledgment, Collation, FullDocument, FullDocumentBeforeChange, Hint, Options, ReadConcern,
    ReadPreference, ReturnDocument, WriteConcern,
};
use crate::store::watch::Watch;

/// Fills a driver's struct from `Options`: `field` is copied, `field = value` is converted.
macro_rules! fill {
    ($into:ty, $from:expr, { $($field:ident $(= $value:expr)?),* $(,)? }) => {{
        let mut filled = <$into>::default();
        $(filled.$field = fill!(@value $from, $field $(, $value)?);)*
        filled
    }};
    (@value $from:expr, $field:ident) => { $from.$field.clone() };
    (@value $from:expr, $field:ident, $value:expr) => { $value };
}

pub(super) fn insert_one(o: &Options) -> theirs::InsertOneOptions {
    fill!(theirs::InsertOneOptions, o, {
        bypass_document_validation, comment, write_concern = write(o),
    })
}

pub(super) fn insert_many(o: &Options) -> theirs::InsertManyOptions {
    fill!(theirs::InsertManyOptions, o, {
        bypass_document_validation, ordered, comment, write_concern = write(o),
    })
}

pub(super) fn update(o: &Options) -> Result<theirs::UpdateOptions> {
    Ok(fill!(theirs::UpdateOptions, o, {
        bypass_document_validation, upsert, let_vars, comment,
        collation = collation(o)?, hint = hint(o), write_concern = write(o),
    }))
}

pub(super) fn replace(o: &Options) -> Result<theirs::ReplaceOptions> {
    Ok(fill!(theirs::ReplaceOptions, o, {
        bypass_document_validation, upsert, let_vars, comment,
        collation = collation(o)?, hint = hint(o), write_concern = write(o),
    }))
}

pub(super) fn delete(o: &Options) -> Result<theirs::DeleteOptions> {
    Ok(fill!(theirs::DeleteOptions, o, {
        let_vars, comment,
        collation = collation(o)?, hint = hint(o), write_concern = write(o),
    }))
}

pub(super) fn find_one_and_update(o: &Options) -> Result<theirs::FindOneAndUpdateOptions> {
    Ok(fill!(theirs::FindOneAndUpdateOptions, o, {
        bypass_document_validation, max_time, projection, sort, upsert, let_vars,
        comment, return_document = returned(o),
        collation = collation(o)?, hint = hint(o), write_concern = write(o),
    }))
}

pub(super) fn find_one_and_replace(o: &Options) -> Result<theirs::FindOneAndReplaceOptions> {
    Ok(fill!(theirs::FindOneAndReplaceOptions, o, {
        bypass_document_validation, max_time, projection, sort, upsert, let_vars, comment,
        return_document = returned(o),
        collation = collation(o)?, hint = hint(o), write_concern = write(o),
    }))
}

pub(super) fn find_one_and_delete(o: &Options) -> Result<theirs::FindOneAndDeleteOptions> {
    Ok(fill!(theirs::FindOneAndDeleteOptions, o, {
        max_time, projection, sort, let_vars, comment,
        collation = collation(o)?, hint = hint(o), write_concern = write(o),
    }))
}

pub(super) fn find(o: &Options) -> Result<theirs::FindOptions> {
    Ok(fill!(theirs::FindOptions, o, {
        sort, projection, skip, limit, batch_size, comment, max_time, allow_disk_use, let_vars,
        min, max, allow_partial_results, no_cursor_timeout, show_record_id, return_key,
        collation = collation(o)?, hint = hint(o),
        read_concern = read(o), selection_criteria = selection(o),
        cursor_type = o.tails.then_some(theirs::CursorType::TailableAwait), max_await_time,
    }))
}

pub(super) fn aggregate(o: &Options) -> Result<theirs::AggregateOptions> {
    Ok(fill!(theirs::AggregateOptions, o, {
        allow_disk_use, batch_size, bypass_document_validation, comment, max_time, let_vars,
        collation = collation(o)?, hint = hint(o), read_concern = read(o),
        selection_criteria = selection(o), write_concern = write(o),
    }))
}

pub(super) fn change_stream(watch: &Watch) -> Result<theirs::ChangeStreamOptions> {
    let o = &*watch.options;
    let resume = |token: &Option<Document>| token.as_ref().map(resume_token).transpose();
    Ok(fill!(theirs::ChangeStreamOptions, o, {
        batch_size, comment, collation = collation(o)?, read_concern = read(o),
        selection_criteria = selection(o),
        full_document = watch.full_document.map(full_document),
        full_document_before_change = watch.full_document_before_change.map(before_change),
        show_expanded_events = watch.show_expanded_events.then_some(true),
        resume_after = resume(&watch.resume_after)?,
        start_after = resume(&watch.start_after)?,
        start_at_operation_time = watch.start_at_operation_time,
        max_await_time = watch.max_await_time,
    }))
}

fn full_document(option: FullDocument) -> theirs::FullDocumentType {
    match option {
        FullDocument::UpdateLookup => theirs::FullDocumentType::UpdateLookup,
        FullDocument::WhenAvailable => theirs::FullDocumentType::WhenAvailable,
        FullDocument::Required => theirs::FullDocumentType::Required,
    }
}

fn before_change(option: FullDocumentBeforeChange) -> theirs::FullDocumentBeforeChangeType {
    match option {
        FullDocumentBeforeChange::WhenAvailable => {
            theirs::FullDocumentBeforeChangeType::WhenAvailable
        }
        FullDocumentBeforeChange::Required => theirs::FullDocumentBeforeChangeType::Required,
    }
}

pub(super) fn count(o: &Options) -> Result<theirs::CountOptions> {
    Ok(fill!(theirs::CountOptions, o, {
        skip, comment, max_time,
        limit = o.limit.and_then(|limit| u64::try_from(limit).ok()),
        collation = collation(o)?, hint = hint(o),
        read_concern = read(o), selection_criteria = selection(o),
    }))
}

pub(super) fn estimated_count(o: &Options) -> theirs::EstimatedDocumentCountOptions {
    fill!(theirs::EstimatedDocumentCountOptions, o, {
        comment, max_time, read_concern = read(o), selection_criteria = selection(o),
    })
}

pub(super) fn distinct(o: &Options) -> Result<theirs::DistinctOptions> {
    Ok(fill!(theirs::DistinctOptions, o, {
        comment, max_time,
        collation = collation(o)?, hint = hint(o),
        read_concern = read(o), selection_criteria = selection(o),
    }))
}

pub(super) fn drop(o: &Options) -> theirs::DropCollectionOptions {
    fill!(theirs::DropCollectionOptions, o, {
        write_concern = write(o)
    })
}

fn hint(o: &Options) -> Option<theirs::Hint> {
    o.hint.as_ref().map(|hint| match hint {
        Hint::Name(name) => theirs::Hint::Name(name.clone()),
        Hint::Keys(keys) => theirs::Hint::Keys(keys.clone()),
    })
}

fn collation(o: &Options) -> Result<Option<theirs::Collation>> {
    let Some(document) = o.collation.as_ref().map(Collation::to_document) else {
        return Ok(None);
    };
    // The driver's types check the option values and the range of the strength.
    bson::deserialize_from_document(document)
        .map(Some)
        .map_err(|e| Error::usage(format!("invalid collation: {e}")))
}

fn returned(o: &Options) -> Option<theirs::ReturnDocument> {
    o.return_document.map(|returned| match returned {
        ReturnDocument::Before => theirs::ReturnDocument::Before,
        ReturnDocument::After => theirs::ReturnDocument::After,
    })
}

pub(super) fn read_concern(concern: ReadConcern) -> theirs::ReadConcern {
    match concern {
        ReadConcern::Local => theirs::ReadConcern::local(),
        ReadConcern::Available => theirs::ReadConcern::available(),
        ReadConcern::Majority => theirs::ReadConcern::majority(),
        ReadConcern::Linearizable => theirs::ReadConcern::linearizable(),
        ReadConcern::Snapshot => theirs::ReadConcern::snapshot(),
    }
}

fn read(o: &Options) -> Option<theirs::ReadConcern> {
    o.read_concern.map(read_concern)
}

pub(super) fn write_concern(concern: &WriteConcern) -> theirs::WriteConcern {
    let mut theirs = theirs::WriteConcern::default();
    theirs.w = concern.w.as_ref().map(|w| match w {
        Acknowledgment::Nodes(nodes) => theirs::Acknowledgment::Nodes(*nodes),
        Acknowledgment::Majority => theirs::Acknowledgment::Majority,
        Acknowledgment::Custom(name) => theirs::Acknowledgment::Custom(name.clone()),
    });
    theirs.journal = concern.journal;
    theirs.w_timeout = concern.timeout;
    theirs
}

fn write(o: &Options) -> Option<theirs::WriteConcern> {
    o.write_concern.as_ref().map(write_concern)
}

pub(super) fn selection_criteria(preference: &ReadPreference) -> SelectionCriteria {
    let mut options = theirs::ReadPreferenceOptions::default();
    options.max_staleness = preference.staleness();
    if !preference.tag_sets().is_empty() {
        let sets = preference.tag_sets().iter();
        options.tag_sets = Some(sets.map(|set| set.iter().cloned().collect()).collect());
    }
    let options = Some(options);
    SelectionCriteria::ReadPreference(match preference.mode() {
        Mode::Primary => theirs::ReadPreference::Primary,
        Mode::PrimaryPreferred => theirs::ReadPreference::PrimaryPreferred { options },
        Mode::Secondary => theirs::ReadPreference::Secondary { options },
        Mode::SecondaryPreferred => theirs::ReadPreference::SecondaryPreferred { options },
        Mode::Nearest => theirs::ReadPreference::Nearest { options },
    })
}

fn selection(o: &Options) -> Option<SelectionCriteria> {
    o.read_preference.as_ref().map(selection_criteria)
}

/// The document as the driver's token.
fn resume_token(document: &Document) -> Result<ResumeToken> {
    bson::deserialize_from_document(document.clone()).map_err(Error::encode)
}
