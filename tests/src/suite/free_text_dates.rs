//! Dates from texts without a format, as calendars, mail and logs write them. The dates are those that mongod returns.

use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;

use crate::case::cases;

cases![
    texts_are_dates,
    texts_with_a_zone_take_no_other,
    conversions_read_the_same_texts,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "texts")]
struct Text {
    #[serde(rename = "_id")]
    id: i32,
}

/// The texts, each with its milliseconds since 1970 or the code of the failure.
const TEXTS: &[(&str, Result<i64, i32>)] = &[
    ("2017-02-08", Ok(1_486_512_000_000)),
    ("July 4th, 2017", Ok(1_499_126_400_000)),
    ("4 July 2017", Ok(1_499_126_400_000)),
    ("04 jul 2017 10:30 PM", Ok(1_499_207_400_000)),
    ("Fri, 21 Nov 1997 09:55:06 -0600", Ok(880_127_706_000)),
    ("2017W05", Ok(1_485_734_400_000)),
    ("2017-W05-3", Ok(1_485_907_200_000)),
    ("@1000", Ok(1_000_000)),
    ("@-5", Ok(-5_000)),
    ("@1.5", Ok(1_500)),
    ("2017-02", Ok(1_485_907_200_000)),
    ("20170208", Ok(1_486_512_000_000)),
    ("7/4/2017", Ok(1_499_126_400_000)),
    ("7/4/99", Ok(931_046_400_000)),
    ("4.7.2017", Ok(1_499_126_400_000)),
    ("4-7-2017", Ok(1_499_126_400_000)),
    ("2017/7/4", Ok(1_499_126_400_000)),
    ("Jul 2017", Ok(1_498_867_200_000)),
    ("2017 Jul", Ok(1_498_867_200_000)),
    ("2017-07-04 10pm", Ok(1_499_205_600_000)),
    ("2017-07-04T10:20:30+02", Ok(1_499_156_430_000)),
    ("2017-07-04 EST", Ok(1_499_144_400_000)),
    ("Mon, 21 Nov 1997", Ok(880_329_600_000)),
    ("Sat Jul  4 10:30:00 2017", Ok(1_499_509_800_000)),
    ("10:00 Fri 21 Nov 1997", Ok(880_070_400_000)),
    ("17-07-04", Ok(1_499_126_400_000)),
    ("July 4, 2017 10:30:15.25", Ok(1_499_164_215_250)),
    ("July 4, 2017, 10:30", Ok(1_499_164_200_000)),
    ("Jul-04-2017", Ok(1_499_126_400_000)),
    ("04-Jul-2017", Ok(1_499_126_400_000)),
    ("4-Jul-17", Ok(1_499_126_400_000)),
    ("4jul2017", Ok(1_499_126_400_000)),
    ("jul4,2017", Ok(1_499_126_400_000)),
    ("Sept 3 2017", Ok(1_504_396_800_000)),
    ("10 p.m. 4 July 2017", Ok(1_499_205_600_000)),
    ("12 am July 4 2017", Ok(1_499_126_400_000)),
    ("12 pm July 4 2017", Ok(1_499_169_600_000)),
    ("4 July 2017 10:30 GMT+02:00", Ok(1_499_157_000_000)),
    ("4 July 2017 10:30+2", Ok(1_499_157_000_000)),
    ("4 July 2017 10:30 PST", Ok(1_499_193_000_000)),
    ("4 July 2017 10.30", Ok(1_499_164_200_000)),
    ("20170704T10:30", Ok(1_499_164_200_000)),
    ("20170704t10", Ok(1_499_162_400_000)),
    ("20170704 103015", Ok(1_499_164_215_000)),
    ("20170704103015", Ok(1_499_164_215_000)),
    ("2017-W53", Ok(1_514_764_800_000)),
    ("2017W05T10:30", Ok(1_485_772_200_000)),
    ("2017-07-04T10:30:00 +02:00", Ok(1_499_157_000_000)),
    ("2017-07-04,10:30", Ok(1_499_164_200_000)),
    ("2017-07-04 10:30 am", Ok(1_499_164_200_000)),
    ("2017-7-4", Ok(1_499_126_400_000)),
    ("  4 July 2017  ", Ok(1_499_126_400_000)),
    ("4. July 2017", Ok(1_499_126_400_000)),
    ("July 2017 10:30", Ok(1_498_905_000_000)),
    ("monday 4 July 2017", Ok(1_499_644_800_000)),
    ("4 July 2017 z", Ok(1_499_126_400_000)),
    ("Thursday, December 7, 2017 3:04 PM", Ok(1_512_659_040_000)),
    ("Thu Dec 07 15:04:05 UTC 2017", Ok(1_512_659_045_000)),
    ("Thursday, 07-Dec-17 15:04:05 GMT", Ok(1_512_659_045_000)),
    ("07/Dec/2017:15:04:05 +0000", Ok(1_512_659_045_000)),
    ("2017:12:07 15:04:05", Ok(1_512_659_045_000)),
    ("12/07/2017 3:04:05 PM", Ok(1_512_659_045_000)),
    ("12/7/2017 15:04", Ok(1_512_659_040_000)),
    ("30 Feb 2017", Err(241)),
    ("July 4", Err(241)),
    ("12:30", Err(241)),
    ("4/7", Err(241)),
    ("4 July", Err(241)),
    ("4 July 2017 10:30 11:30", Err(241)),
    ("4 July 2017 5 July 2018", Err(241)),
    ("4 July 2017 10:30 UTC +2", Err(241)),
    ("0 July 2017", Err(241)),
];

/// What an expression over a text computes, as a number, or the code of its failure.
async fn computed(db: &Db, expression: BsonDocument) -> Result<i64, i32> {
    let stages = vec![doc! {"$project": {"_id": 0, "at": {"$toLong": expression}}}];
    let found = db.collection::<Text>().aggregate(stages).first().await;
    match found {
        Ok(found) => Ok(found.unwrap().get_i64("at").unwrap()),
        Err(error) => Err(error.code().unwrap().number()),
    }
}

async fn texts_are_dates(db: &Db) {
    db.collection::<Text>()
        .insert_one(Text { id: 1 })
        .await
        .unwrap();
    for (text, expected) in TEXTS {
        let found = computed(db, doc! {"$dateFromString": {"dateString": text}}).await;
        assert_eq!(found, *expected, "{text:?}");
    }
}

async fn texts_with_a_zone_take_no_other(db: &Db) {
    db.collection::<Text>()
        .insert_one(Text { id: 1 })
        .await
        .unwrap();
    let in_berlin =
        |text: &str| doc! {"$dateFromString": {"dateString": text, "timezone": "Europe/Berlin"}};
    let summer = computed(db, in_berlin("4 July 2017 10:30")).await;
    assert_eq!(summer, Ok(1_499_157_000_000));
    for text in [
        "4 July 2017 10:30 GMT",
        "4 July 2017 10:30 +02:00",
        "4 July 2017 z",
    ] {
        assert_eq!(computed(db, in_berlin(text)).await, Err(241), "{text}");
    }
    let otherwise = doc! {"$dateFromString": {
        "dateString": "30 Feb 2017", "onError": DateTime::from_millis(7),
    }};
    assert_eq!(computed(db, otherwise).await, Ok(7));
}

async fn conversions_read_the_same_texts(db: &Db) {
    db.collection::<Text>()
        .insert_one(Text { id: 1 })
        .await
        .unwrap();
    let converted = computed(db, doc! {"$toDate": "Thu, 07 Dec 2017 15:04:05 +0100"}).await;
    assert_eq!(converted, Ok(1_512_655_445_000));
    assert_eq!(computed(db, doc! {"$toDate": "July 4"}).await, Err(241));
}
