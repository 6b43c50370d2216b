//! The body of a request, beside the document that it becomes: both have the reference `room`, and rows of the document's joins
//! have one method `room`.
#![deny(unused)]

mod model {
    use odm::prelude::*;

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "rooms")]
    pub struct Room {
        #[serde(rename = "_id")]
        pub id: i32,
        pub name: String,
    }

    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "bookings")]
    pub struct Booking {
        #[serde(rename = "_id")]
        pub id: i32,
        #[odm(index)]
        pub room: Ref<Room>,
        pub parking: Option<Extra>,
        pub breakfast: Option<Extra>,
    }

    #[derive(Debug, Serialize, Deserialize, Embedded)]
    pub struct NewBooking {
        pub room: Ref<Room>,
    }

    #[derive(Debug, Serialize, Deserialize, Embedded)]
    pub struct Extra {
        pub place: Ref<Room>,
    }
}

mod service {
    use odm::prelude::*;
    use odm::relation::typing::{Behind, First};

    use crate::model::*;

    pub async fn run(db: &Db) -> odm::Result<()> {
        let rooms = db.collection::<Room>();
        let bookings = db.collection::<Booking>();
        let room = |id, name: &str| Room {
            id,
            name: name.to_owned(),
        };
        rooms
            .insert_many([room(1, "blue"), room(2, "yard")])
            .await?;
        let NewBooking { room } = NewBooking { room: Ref::from(1) };
        let extra = |id| {
            Some(Extra {
                place: Ref::from(id),
            })
        };
        let booking = Booking {
            id: 1,
            room,
            parking: extra(2),
            breakfast: extra(1),
        };
        bookings.insert_one(&booking).await?;

        let rows = bookings.find_all().join(|b| b.room).all().await?;
        assert_eq!(name(rows[0].room()), Some("blue"));

        let rows = bookings.find_all().join(|b| b.parking.place).all().await?;
        assert_eq!(name(rows[0].place()), Some("yard"));

        let rows = bookings
            .find_all()
            .join(|b| b.parking.place)
            .join(|b| b.breakfast.place);
        let rows = rows.join(|b| b.room).all().await?;
        assert_eq!(name(BookingJoined::room(&rows[0])), Some("blue"));
        assert_eq!(name(rows[0].place::<Behind<First>>()), Some("blue"));
        assert_eq!(name(rows[0].place::<Behind<Behind<First>>>()), Some("yard"));
        Ok(())
    }

    fn name(room: &odm::relation::Resolved<Room>) -> Option<&str> {
        room.found().map(|room| room.name.as_str())
    }
}

#[tokio::test]
async fn rows_have_one_method_for_each_relation() {
    service::run(&odm::Db::memory()).await.unwrap();
}
