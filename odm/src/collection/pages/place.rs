//! The place behind a document, by the values that are stored.

use std::fmt;

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Binary, Bson, Document, doc, spec::BinarySubtype};

use super::declared::Declared;
use super::key::{Key, keys};
use super::{PageToken, Paging, can_not_continue};
use crate::collection::call::{Call, encode, equality};
use crate::collection::decode;
use crate::error::{Error, Result};
use crate::model::Document as Model;
use crate::store::options::{Chosen, Options};
use crate::store::{Condition, Operation, Request};

/// The place behind a document.
#[derive(Debug)]
pub(crate) enum Place {
    Document(Given),
    Token(PageToken),
}

/// A document that the caller has read.
pub(crate) struct Given {
    /// As its struct is written: a default may stand where nothing is stored.
    written: RawDocumentBuf,
    /// How its struct is written after it was read from this.
    rewrite: fn(&RawDocument) -> Result<RawDocumentBuf>,
}

impl Given {
    pub(super) fn new<M: Model>(document: &M) -> Result<Self> {
        Ok(Self {
            written: encode(document)?,
            rewrite: |raw| encode(&decode::<M>(raw, M::model().name)?),
        })
    }

    fn id(&self) -> Result<Bson> {
        let id = self.written.get("_id").map_err(Error::encode)?;
        let id = id.ok_or_else(|| can_not_continue("_id", "the document has no value for it"))?;
        Bson::try_from(id).map_err(Error::encode)
    }

    /// The place of the document, if it is `stored` as this.
    ///
    /// The place is in the stored values, unless the document was changed since it was read. Then only the struct knows
    /// where it was, which does for fields that the struct writes as it read them.
    fn place(&self, keys: &[Key], stored: Option<&RawDocument>) -> Result<PageToken> {
        let written = PageToken::new(keys, &self.written)?;
        if let Some(stored) = stored
            && let Ok(rewritten) = (self.rewrite)(stored)
            && PageToken::new(keys, &rewritten)?.is_same(&written)
        {
            return PageToken::new(keys, stored);
        }
        for key in keys.iter().filter(|key| key.path != "_id") {
            if key.declared != Declared::Exact || self.may_be_a_default(key)? {
                return Err(can_not_continue(
                    &key.path,
                    "the document was changed or deleted after it was read, and its struct does not show how the field \
                     was stored; read pages with `page_after`",
                ));
            }
        }
        Ok(written)
    }

    /// Whether the struct has the same value at the key when nothing is stored there.
    fn may_be_a_default(&self, key: &Key) -> Result<bool> {
        let value = key.value(&self.written)?;
        // A missing field sorts as null.
        if value == Bson::Null {
            return Ok(false);
        }
        let whole = Document::try_from(&*self.written).map_err(Error::encode)?;
        let ends = key.path.match_indices('.').map(|(at, _)| at);
        for end in ends.chain([key.path.len()]) {
            let mut without = whole.clone();
            remove(&mut without, key.path.get(..end).unwrap_or_default());
            let without = RawDocumentBuf::try_from(&without).map_err(Error::encode)?;
            if let Ok(read) = (self.rewrite)(&without)
                && key.value(&read)? == value
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Removes what is at the path, if anything is.
fn remove(document: &mut Document, path: &str) {
    match path.split_once('.') {
        None => {
            document.remove(path);
        }
        Some((name, inside)) => {
            if let Ok(nested) = document.get_document_mut(name) {
                remove(nested, inside);
            }
        }
    }
}

impl Place {
    /// The values of the keys, if they are known without a query.
    pub(super) fn known(self, keys: &[Key]) -> Result<Vec<Bson>> {
        match self {
            Self::Token(token) => token.values(keys),
            Self::Document(given) if has_only_id(keys) => Ok(vec![given.id()?]),
            Self::Document(_) => Err(Error::usage(
                "`after` asks MongoDB how the document is stored, so its command is not known before it is sent: use \
                 `explain`, or `after_token`",
            )),
        }
    }
}

fn has_only_id(keys: &[Key]) -> bool {
    matches!(keys, [key] if key.path == "_id")
}

/// Sends the queries that the pages of this call need: how the document is stored behind which they continue, and whether
/// a field of the sort holds an array anywhere.
pub(in crate::collection) async fn settle(call: &mut Call<'_>) -> Result<()> {
    let model = call.model.name;
    let place = match call.paging.as_deref_mut() {
        // An error of the builder is returned when the call is completed.
        Some(Paging::After(place)) if call.error.is_none() => place.take(),
        _ => return Ok(()),
    };
    let place = settled(call, place).await;
    let place = place.map_err(|error| error.with_model(model))?;
    call.paging = Some(Box::new(Paging::After(place)));
    Ok(())
}

async fn settled(call: &mut Call<'_>, place: Option<Place>) -> Result<Option<Place>> {
    let keys = keys_of(call)?;
    let place = match place {
        Some(Place::Document(given)) if !has_only_id(&keys) => {
            Some(Place::Token(token(call, &given, &keys).await?))
        }
        place => place,
    };
    refuse_arrays(call, &keys).await?;
    Ok(place)
}

pub(super) fn keys_of(call: &Call<'_>) -> Result<Vec<Key>> {
    let options = &call.request.options;
    let sort = options.sort.clone().unwrap_or_default();
    keys(&sort, call.model, options.collation.is_some())
}

/// The place of the document in the order of these keys.
pub(super) async fn token(call: &mut Call<'_>, given: &Given, keys: &[Key]) -> Result<PageToken> {
    if has_only_id(keys) {
        return PageToken::new(keys, &given.written);
    }
    let options = call.request.options.shared();
    let filter = doc! {"_id": equality(given.id()?)};
    let stored = ask(call, filter.into(), options).await?;
    given.place(keys, stored.as_deref())
}

/// Fails if a document of the query has an array at a key: pages would repeat it.
async fn refuse_arrays(call: &mut Call<'_>, keys: &[Key]) -> Result<()> {
    for key in keys.iter().filter(|key| key.may_be_array()) {
        let Operation::Find { filter, .. } = &call.request.operation else {
            return Ok(());
        };
        let mut filter = filter.clone();
        filter.join(key.is_array());
        let options = Chosen::from(Options {
            sort: None,
            skip: None,
            limit: None,
            batch_size: None,
            projection: Some(doc! {"_id": 1}),
            hint: None,
            min: None,
            max: None,
            return_key: None,
            ..call.request.options.chosen().cloned().unwrap_or_default()
        });
        if let Some(found) = ask(call, filter, options).await? {
            let id = found.get("_id").map_err(Error::encode)?;
            let id = id
                .and_then(|id| Bson::try_from(id).ok())
                .unwrap_or(Bson::Null);
            let reason = format!("it holds an array in the document with _id {id}");
            return Err(can_not_continue(&key.path, &reason));
        }
    }
    Ok(())
}

impl Key {
    fn may_be_array(&self) -> bool {
        self.path != "_id" && self.declared == Declared::Open
    }

    /// The condition of documents with an array at this path or on its way. Its range of types is small, for indexes that
    /// hold no arrays: MongoDB gives `$type: "array"` no range.
    fn is_array(&self) -> Document {
        let last = Binary {
            subtype: BinarySubtype::Generic,
            bytes: Vec::new(),
        };
        let path = self.in_expression();
        doc! {"$expr": {"$and": [
            {"$gte": [&path, {"$literal": {}}]},
            {"$lt": [&path, last]},
            {"$isArray": [&path]},
        ]}}
    }
}

/// Reads one document in the session of the call.
async fn ask(
    call: &mut Call<'_>,
    filter: Condition,
    options: Chosen,
) -> Result<Option<RawDocumentBuf>> {
    let operation = Operation::Find { filter, one: true };
    let mut request = Request::new(call.request.collection.clone(), operation);
    request.options = options;
    let question = Call {
        store: call.store.clone(),
        model: call.model,
        request,
        session: call.session.as_deref_mut(),
        defaults: call.defaults.clone(),
        error: None,
        guards: None,
        paging: None,
        related: None,
        leaves_dangling: false,
        leaves_stale: false,
        any_version: true,
    };
    let mut cursor = question.future(|response, ()| response.cursor()).await?;
    let found = cursor.next().await.transpose()?;
    Ok(found.map(RawDocument::to_owned))
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Given").field(&self.written).finish()
    }
}
