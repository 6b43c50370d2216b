// The set-up of examples about advice: they include this file.

use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "playlists")]
struct Playlist {
    #[serde(rename = "_id")]
    id: i32,
    songs: Vec<String>,
}

/// A database with twenty playlists, one of which has grown.
async fn playlists() -> odm::Result<Db> {
    let db = Db::memory();
    let songs = |count| (0..count).map(|song| format!("song {song}")).collect();
    let playlists = (0..20).map(|id| Playlist {
        id,
        songs: songs(if id == 7 { 300 } else { 5 }),
    });
    db.collection().insert_many(playlists).await?;
    Ok(db)
}
