//! The documents of MongoDB's guides, a module for each example.

pub mod guide_0 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `addresses`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "addresses")]
    pub struct Address {
        /// In none of the documents that were read.
        #[serde(rename = "_id")]
        pub id: Id<Address>,
        /// string 100 %.
        /// 100 % of 1 ids resolve in `patrons`.
        pub patron_id: Ref<Patron>,
        /// string 100 %.
        pub street: String,
        /// string 100 %.
        pub city: String,
        /// string 100 %.
        pub state: String,
        /// string 100 %.
        pub zip: String,
    }

    /// A document of `patrons`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "patrons")]
    pub struct Patron {
        /// string 100 %.
        #[serde(rename = "_id")]
        pub id: String,
        /// string 100 %.
        pub name: String,
    }
}

pub mod guide_1 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `patrons`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "patrons")]
    pub struct Patron {
        /// string 100 %.
        #[serde(rename = "_id")]
        pub id: String,
        /// string 100 %.
        pub name: String,
        /// object 100 %.
        pub address: Address,
    }

    /// A document in `patrons.address`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Address {
        /// string 100 %.
        pub street: String,
        /// string 100 %.
        pub city: String,
        /// string 100 %.
        pub state: String,
        /// string 100 %.
        pub zip: String,
    }
}

pub mod guide_2 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `patrons`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "patrons")]
    pub struct Patron {
        /// string 100 %.
        #[serde(rename = "_id")]
        pub id: String,
        /// string 100 %.
        pub name: String,
        /// array 100 %; at most 2 elements: object 100 %.
        #[odm(embed(few, max = 10))]
        pub addresses: Vec<Address>,
    }

    /// A document in `patrons.addresses`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Address {
        /// string 100 %.
        pub street: String,
        /// string 100 %.
        pub city: String,
        /// string 100 %.
        pub state: String,
        /// string 100 %.
        pub zip: String,
    }
}

pub mod guide_3 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `addresses`: 2 of 2 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "addresses")]
    pub struct Address {
        /// In none of the documents that were read.
        #[serde(rename = "_id")]
        pub id: Id<Address>,
        /// string 100 %.
        /// 100 % of 1 ids resolve in `patrons`.
        pub patron_id: Ref<Patron>,
        /// string 100 %.
        pub street: String,
        /// string 100 %.
        pub city: String,
        /// string 100 %.
        pub state: String,
        /// string 100 %.
        pub zip: String,
    }

    /// A document of `patrons`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "patrons")]
    pub struct Patron {
        /// string 100 %.
        #[serde(rename = "_id")]
        pub id: String,
        /// string 100 %.
        pub name: String,
    }
}

pub mod guide_4 {
    //! Models of existing collections, pulled by odm.

    use odm::bson;
    use odm::prelude::*;

    /// A document of `books`: 2 of 2 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "books")]
    pub struct Book {
        /// In none of the documents that were read.
        #[serde(rename = "_id")]
        pub id: Id<Book>,
        /// string 100 %.
        pub title: String,
        /// string 50 %, array 50 %; at most 2 elements: string 100 %.
        pub author: bson::Bson,
        /// date 100 %.
        pub published_date: DateTime,
        /// int 100 %.
        pub pages: i32,
        /// string 100 %.
        pub language: String,
        /// object 100 %.
        pub publisher: Publisher,
    }

    /// A document in `books.publisher`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Publisher {
        /// string 100 %.
        pub name: String,
        /// int 100 %.
        pub founded: i32,
        /// string 100 %.
        pub location: String,
    }
}

pub mod guide_5 {
    //! Models of existing collections, pulled by odm.

    use odm::bson;
    use odm::prelude::*;

    /// A document of `books`: 2 of 2 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "books")]
    pub struct Book {
        /// int 100 %.
        #[serde(rename = "_id")]
        pub id: i32,
        /// string 100 %.
        pub title: String,
        /// string 50 %, array 50 %; at most 2 elements: string 100 %.
        pub author: bson::Bson,
        /// date 100 %.
        pub published_date: DateTime,
        /// int 100 %.
        pub pages: i32,
        /// string 100 %.
        pub language: String,
    }

    /// A document of `publishers`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "publishers")]
    pub struct Publisher {
        /// In none of the documents that were read.
        #[serde(rename = "_id")]
        pub id: Id<Publisher>,
        /// string 100 %.
        pub name: String,
        /// int 100 %.
        pub founded: i32,
        /// string 100 %.
        pub location: String,
        /// array 100 %; at most 2 elements: int 100 %.
        /// 100 % of 2 ids resolve in `books`.
        #[odm(references(many, max = 10))]
        pub books: Vec<Ref<Book>>,
    }
}

pub mod guide_6 {
    //! Models of existing collections, pulled by odm.

    use odm::bson;
    use odm::prelude::*;

    /// A document of `books`: 2 of 2 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "books")]
    pub struct Book {
        /// int 100 %.
        #[serde(rename = "_id")]
        pub id: i32,
        /// string 100 %.
        pub title: String,
        /// string 50 %, array 50 %; at most 2 elements: string 100 %.
        pub author: bson::Bson,
        /// date 100 %.
        pub published_date: DateTime,
        /// int 100 %.
        pub pages: i32,
        /// string 100 %.
        pub language: String,
        /// string 100 %.
        /// 100 % of 1 ids resolve in `publishers`.
        pub publisher_id: Ref<Publisher>,
    }

    /// A document of `publishers`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "publishers")]
    pub struct Publisher {
        /// string 100 %.
        #[serde(rename = "_id")]
        pub id: String,
        /// string 100 %.
        pub name: String,
        /// int 100 %.
        pub founded: i32,
        /// string 100 %.
        pub location: String,
    }
}

pub mod guide_7 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `people`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "people")]
    pub struct Person {
        /// In none of the documents that were read.
        #[serde(rename = "_id")]
        pub id: Id<Person>,
        /// string 100 %.
        pub name: String,
        /// objectId 100 %.
        /// 100 % of 1 ids resolve in `places`.
        pub places_id: Ref<Place>,
        /// string 100 %.
        pub url: String,
    }

    /// A document of `places`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "places")]
    pub struct Place {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Place>,
        /// string 100 %.
        pub name: String,
        /// string 100 %.
        pub url: String,
    }
}

pub mod guide_8 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `students`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students")]
    pub struct Student {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Student>,
        /// string 100 %.
        pub first_name: String,
        /// string 100 %.
        pub last_name: String,
        /// array 100 %; at most 2 elements: object 100 %.
        #[odm(embed(few, max = 10))]
        pub emails: Vec<Email>,
    }

    /// A document in `students.emails`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Email {
        /// string 100 %.
        pub email: String,
        /// string 100 %.
        pub r#type: String,
    }
}

pub mod guide_9 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `students`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students")]
    pub struct Student {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Student>,
        /// string 100 %.
        pub first_name: String,
        /// string 100 %.
        pub last_name: String,
        /// object 100 %.
        pub id_card: IdCard,
    }

    /// A document in `students.id_card`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct IdCard {
        /// string 100 %.
        pub number: String,
        /// date 100 %.
        pub issued_on: DateTime,
        /// date 100 %.
        pub expires_on: DateTime,
    }
}

pub mod guide_10 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `students`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students")]
    pub struct Student {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Student>,
        /// string 100 %.
        pub first_name: String,
        /// string 100 %.
        pub last_name: String,
        /// array 100 %; at most 2 elements: object 100 %.
        #[odm(embed(few, max = 10))]
        pub emails: Vec<Email>,
        /// array 100 %; at most 2 elements: object 100 %.
        #[odm(embed(few, max = 10))]
        pub courses: Vec<Course>,
    }

    /// A document in `students.emails`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Email {
        /// string 100 %.
        pub email: String,
        /// string 100 %.
        pub r#type: String,
    }

    /// A document in `students.courses`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Course {
        /// string 100 %.
        pub name: String,
        /// string 100 %.
        pub department: String,
        /// int 100 %.
        pub points: i32,
    }
}

pub mod guide_11 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `courses`: 2 of 2 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "courses")]
    pub struct Course {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Course>,
        /// string 100 %.
        pub name: String,
        /// string 100 %.
        pub department: String,
        /// int 100 %.
        pub points: i32,
    }

    /// A document of `students`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students")]
    pub struct Student {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Student>,
        /// string 100 %.
        pub first_name: String,
        /// string 100 %.
        pub last_name: String,
        /// array 100 %; at most 2 elements: object 100 %.
        #[odm(embed(few, max = 10))]
        pub emails: Vec<Email>,
        /// array 100 %; at most 2 elements: objectId 100 %.
        /// 100 % of 2 ids resolve in `courses`.
        #[odm(references(many, max = 10))]
        pub courses: Vec<Ref<Course>>,
    }

    /// A document in `students.emails`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Email {
        /// string 100 %.
        pub email: String,
        /// string 100 %.
        pub r#type: String,
    }
}

pub mod guide_12 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `courses`: 2 of 2 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "courses")]
    pub struct Course {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Course>,
        /// string 100 %.
        pub name: String,
        /// string 100 %.
        pub department: String,
        /// int 100 %.
        pub points: i32,
    }

    /// A document of `students`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students")]
    pub struct Student {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Student>,
        /// string 100 %.
        pub first_name: String,
        /// string 100 %.
        pub last_name: String,
        /// array 100 %; at most 2 elements: object 100 %.
        #[odm(embed(few, max = 10))]
        pub emails: Vec<Email>,
        /// array 100 %; at most 2 elements: objectId 100 %.
        /// 100 % of 2 ids resolve in `courses`.
        #[odm(references(many, max = 10))]
        pub courses: Vec<Ref<Course>>,
        /// array 100 %; at most 1 element: object 100 %.
        #[odm(embed(few, max = 10))]
        pub message_board_messages: Vec<MessageBoardMessage>,
    }

    /// A document in `students.emails`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Email {
        /// string 100 %.
        pub email: String,
        /// string 100 %.
        pub r#type: String,
    }

    /// A document in `students.message_board_messages`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct MessageBoardMessage {
        /// string 100 %.
        pub subject: String,
        /// string 100 %.
        pub message: String,
        /// date 100 %.
        pub posted_on: DateTime,
    }
}

pub mod guide_13 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `courses`: 2 of 2 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "courses")]
    pub struct Course {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Course>,
        /// string 100 %.
        pub name: String,
        /// string 100 %.
        pub department: String,
        /// int 100 %.
        pub points: i32,
    }

    /// A document of `message_board_messages`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "message_board_messages")]
    pub struct MessageBoardMessage {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<MessageBoardMessage>,
        /// string 100 %.
        pub subject: String,
        /// string 100 %.
        pub message: String,
        /// date 100 %.
        pub posted_on: DateTime,
    }

    /// A document of `students`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "students")]
    pub struct Student {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Student>,
        /// string 100 %.
        pub first_name: String,
        /// string 100 %.
        pub last_name: String,
        /// array 100 %; at most 2 elements: object 100 %.
        #[odm(embed(few, max = 10))]
        pub emails: Vec<Email>,
        /// array 100 %; at most 2 elements: objectId 100 %.
        /// 100 % of 2 ids resolve in `courses`.
        #[odm(references(many, max = 10))]
        pub courses: Vec<Ref<Course>>,
        /// array 100 %; at most 1 element: objectId 100 %.
        /// 100 % of 1 ids resolve in `message_board_messages`.
        #[odm(references(many, max = 10))]
        pub message_board_messages: Vec<Ref<MessageBoardMessage>>,
    }

    /// A document in `students.emails`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Email {
        /// string 100 %.
        pub email: String,
        /// string 100 %.
        pub r#type: String,
    }
}

pub mod guide_14 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `message_board_messages`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "message_board_messages")]
    pub struct MessageBoardMessage {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<MessageBoardMessage>,
        /// string 100 %.
        pub subject: String,
        /// string 100 %.
        pub message: String,
        /// date 100 %.
        pub posted_on: DateTime,
        /// objectId 100 %.
        pub posted_by: ObjectId,
    }
}

pub mod guide_15 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `movie`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "movie")]
    pub struct Movie {
        /// int 100 %.
        #[serde(rename = "_id")]
        pub id: i32,
        /// string 100 %.
        pub title: String,
        /// int 100 %.
        pub year: i32,
        /// int 100 %.
        pub runtime: i32,
        /// date 100 %.
        pub released: DateTime,
        /// string 100 %.
        pub poster: String,
        /// string 100 %.
        pub plot: String,
        /// string 100 %.
        pub fullplot: String,
        /// date 100 %.
        pub lastupdated: DateTime,
        /// string 100 %.
        pub r#type: String,
        /// array 100 %; at most 2 elements: string 100 %.
        pub directors: Vec<String>,
        /// object 100 %.
        pub imdb: Imdb,
        /// array 100 %; at most 1 element: string 100 %.
        pub countries: Vec<String>,
        /// array 100 %; at most 2 elements: string 100 %.
        pub genres: Vec<String>,
        /// object 100 %.
        pub tomatoes: Tomatoe,
    }

    /// A document in `movie.imdb`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Imdb {
        /// double 100 %.
        pub rating: f64,
        /// int 100 %.
        pub votes: i32,
        /// int 100 %.
        pub id: i32,
    }

    /// A document in `movie.tomatoes`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Tomatoe {
        /// object 100 %.
        pub viewer: Viewer,
        /// date 100 %.
        #[serde(rename = "lastUpdated")]
        pub last_updated: DateTime,
    }

    /// A document in `movie.tomatoes.viewer`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Viewer {
        /// double 100 %.
        pub rating: f64,
        /// int 100 %.
        #[serde(rename = "numReviews")]
        pub num_reviews: i32,
    }
}

pub mod guide_16 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `movie`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "movie")]
    pub struct Movie {
        /// int 100 %.
        #[serde(rename = "_id")]
        pub id: i32,
        /// string 100 %.
        pub title: String,
        /// int 100 %.
        pub year: i32,
        /// int 100 %.
        pub runtime: i32,
        /// date 100 %.
        pub released: DateTime,
        /// string 100 %.
        pub r#type: String,
        /// array 100 %; at most 2 elements: string 100 %.
        pub directors: Vec<String>,
        /// array 100 %; at most 1 element: string 100 %.
        pub countries: Vec<String>,
        /// array 100 %; at most 2 elements: string 100 %.
        pub genres: Vec<String>,
    }

    /// A document of `movie_details`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "movie_details")]
    pub struct MovieDetail {
        /// int 100 %.
        #[serde(rename = "_id")]
        pub id: i32,
        /// int 100 %.
        /// 100 % of 1 ids resolve in `movie`.
        pub movie_id: Ref<Movie>,
        /// string 100 %.
        pub poster: String,
        /// string 100 %.
        pub plot: String,
        /// string 100 %.
        pub fullplot: String,
        /// date 100 %.
        pub lastupdated: DateTime,
        /// object 100 %.
        pub imdb: Imdb,
        /// object 100 %.
        pub tomatoes: Tomatoe,
    }

    /// A document in `movie_details.imdb`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Imdb {
        /// double 100 %.
        pub rating: f64,
        /// int 100 %.
        pub votes: i32,
        /// int 100 %.
        pub id: i32,
    }

    /// A document in `movie_details.tomatoes`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Tomatoe {
        /// object 100 %.
        pub viewer: Viewer,
        /// date 100 %.
        #[serde(rename = "lastUpdated")]
        pub last_updated: DateTime,
    }

    /// A document in `movie_details.tomatoes.viewer`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Viewer {
        /// double 100 %.
        pub rating: f64,
        /// int 100 %.
        #[serde(rename = "numReviews")]
        pub num_reviews: i32,
    }
}

pub mod guide_17 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `person`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "person")]
    pub struct Person {
        /// In none of the documents that were read.
        #[serde(rename = "_id")]
        pub id: Id<Person>,
        /// string 100 %.
        pub name: String,
        /// string 100 %.
        pub ssn: String,
        /// array 100 %; at most 2 elements: object 100 %.
        #[odm(embed(few, max = 10))]
        pub addresses: Vec<Address>,
    }

    /// A document in `person.addresses`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Address {
        /// string 100 %.
        pub street: String,
        /// string 100 %.
        pub city: String,
        /// string 100 %.
        pub cc: String,
    }
}

pub mod guide_18 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `parts`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "parts")]
    pub struct Part {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Part>,
        /// string 100 %.
        pub partno: String,
        /// string 100 %.
        pub name: String,
        /// int 100 %.
        pub qty: i32,
        /// double 100 %.
        pub cost: f64,
        /// double 100 %.
        pub price: f64,
    }

    /// A document of `products`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "products")]
    pub struct Product {
        /// In none of the documents that were read.
        #[serde(rename = "_id")]
        pub id: Id<Product>,
        /// int 100 %.
        pub catalog_number: i32,
        /// array 100 %; at most 1 element: objectId 100 %.
        /// 100 % of 1 ids resolve in `parts`.
        #[odm(references(many, max = 10))]
        pub parts: Vec<Ref<Part>>,
    }
}

pub mod guide_19 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `hosts`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "hosts")]
    pub struct Host {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Host>,
        /// string 100 %.
        pub name: String,
        /// string 100 %.
        pub ipaddr: String,
    }

    /// A document of `logmsg`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "logmsg")]
    pub struct Logmsg {
        /// In none of the documents that were read.
        #[serde(rename = "_id")]
        pub id: Id<Logmsg>,
        /// date 100 %.
        pub time: DateTime,
        /// string 100 %.
        pub message: String,
        /// objectId 100 %.
        /// 100 % of 1 ids resolve in `hosts`.
        pub host: Ref<Host>,
    }
}

pub mod guide_20 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `hosts`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "hosts")]
    pub struct Host {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Host>,
        /// string 100 %.
        pub name: String,
        /// string 100 %.
        pub ipaddr: String,
        /// array 100 %; at most 2 elements: object 100 %.
        #[odm(embed(few, max = 10))]
        pub logmsgs: Vec<HostLogmsg>,
    }

    /// A document of `logmsg`: 2 of 2 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "logmsg")]
    pub struct Logmsg {
        /// In none of the documents that were read.
        #[serde(rename = "_id")]
        pub id: Id<Logmsg>,
        /// date 100 %.
        pub time: DateTime,
        /// string 100 %.
        pub message: String,
        /// string 100 %.
        pub ipaddr: String,
        /// objectId 100 %.
        /// 100 % of 1 ids resolve in `hosts`.
        pub host: Ref<Host>,
    }

    /// A document in `hosts.logmsgs`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct HostLogmsg {
        /// date 100 %.
        pub time: DateTime,
        /// string 100 %.
        pub message: String,
    }
}

pub mod guide_21 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `people`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "people")]
    pub struct Person {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Person>,
        /// string 100 %.
        pub name: String,
        /// array 100 %; at most 1 element: objectId 100 %.
        /// 100 % of 1 ids resolve in `tasks`.
        #[odm(references(many, max = 10))]
        pub tasks: Vec<Ref<Task>>,
    }

    /// A document of `tasks`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "tasks")]
    pub struct Task {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Task>,
        /// string 100 %.
        pub description: String,
        /// date 100 %.
        pub due_date: DateTime,
        /// objectId 100 %.
        /// 100 % of 1 ids resolve in `people`.
        pub owner: Ref<Person>,
    }
}

pub mod guide_22 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `parts`: 2 of 2 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "parts")]
    pub struct Part {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Part>,
        /// string 100 %.
        pub partno: String,
        /// string 100 %.
        pub name: String,
        /// int 100 %.
        pub qty: i32,
        /// double 100 %.
        pub cost: f64,
        /// double 100 %.
        pub price: f64,
    }

    /// A document of `products`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "products")]
    pub struct Product {
        /// In none of the documents that were read.
        #[serde(rename = "_id")]
        pub id: Id<Product>,
        /// string 100 %.
        pub name: String,
        /// string 100 %.
        pub manufacturer: String,
        /// int 100 %.
        pub catalog_number: i32,
        /// array 100 %; at most 2 elements: object 100 %.
        #[odm(embed(few, max = 10))]
        pub parts: Vec<ProductPart>,
    }

    /// A document in `products.parts`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct ProductPart {
        /// objectId 100 %.
        /// 100 % of 2 ids resolve in `parts`.
        pub id: Ref<Part>,
        /// string 100 %.
        pub name: String,
    }
}

pub mod guide_23 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `parts`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "parts")]
    pub struct Part {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Part>,
        /// string 100 %.
        pub partno: String,
        /// string 100 %.
        pub name: String,
        /// objectId 100 %.
        /// 100 % of 1 ids resolve in `products`.
        pub product: Ref<Product>,
        /// string 100 %.
        pub product_name: String,
        /// int 100 %.
        pub product_catalog_number: i32,
        /// int 100 %.
        pub qty: i32,
        /// double 100 %.
        pub cost: f64,
        /// double 100 %.
        pub price: f64,
    }

    /// A document of `products`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "products")]
    pub struct Product {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Product>,
        /// string 100 %.
        pub name: String,
        /// string 100 %.
        pub manufacturer: String,
        /// int 100 %.
        pub catalog_number: i32,
    }
}

pub mod guide_24 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `hosts`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "hosts")]
    pub struct Host {
        /// objectId 100 %.
        #[serde(rename = "_id")]
        pub id: Id<Host>,
        /// string 100 %.
        pub name: String,
        /// string 100 %.
        pub ipaddr: String,
    }

    /// A document of `logmsg`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "logmsg")]
    pub struct Logmsg {
        /// In none of the documents that were read.
        #[serde(rename = "_id")]
        pub id: Id<Logmsg>,
        /// date 100 %.
        pub time: DateTime,
        /// string 100 %.
        pub message: String,
        /// string 100 %.
        pub ipaddr: String,
        /// objectId 100 %.
        /// 100 % of 1 ids resolve in `hosts`.
        pub host: Ref<Host>,
    }
}

pub mod guide_25 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `logmsg`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "logmsg")]
    pub struct Logmsg {
        /// In none of the documents that were read.
        #[serde(rename = "_id")]
        pub id: Id<Logmsg>,
        /// date 100 %.
        pub time: DateTime,
        /// string 100 %.
        pub message: String,
        /// string 100 %.
        pub ipaddr: String,
        /// string 100 %.
        pub hostname: String,
    }
}

pub mod guide_26 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `products`: 2 of 2 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "products")]
    pub struct Product {
        /// int 100 %.
        #[serde(rename = "_id")]
        pub id: i32,
        /// string 100 %.
        pub name: String,
        /// int 100 %.
        pub review_count: i32,
        /// double 100 %.
        pub stars: f64,
    }

    /// A document of `reviews`: 3 of 3 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "reviews")]
    pub struct Review {
        /// int 100 %.
        #[serde(rename = "_id")]
        pub id: i32,
        /// int 100 %.
        /// 100 % of 2 ids resolve in `products`.
        pub product: Ref<Product>,
        /// int 100 %.
        pub stars: i32,
        /// string 100 %.
        pub text: String,
    }
}

pub mod guide_27 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `products`: 1 of 1 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "products")]
    pub struct Product {
        /// int 100 %.
        #[serde(rename = "_id")]
        pub id: i32,
        /// string 100 %.
        pub name: String,
        /// array 100 %; at most 3 elements: object 100 %.
        #[odm(embed(few, max = 10))]
        pub reviews: Vec<ProductReview>,
    }

    /// A document of `reviews`: 5 of 5 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "reviews")]
    pub struct Review {
        /// int 100 %.
        #[serde(rename = "_id")]
        pub id: i32,
        /// int 100 %.
        /// 100 % of 1 ids resolve in `products`.
        pub product: Ref<Product>,
        /// date 100 %.
        pub date: DateTime,
        /// int 100 %.
        pub stars: i32,
        /// string 100 %.
        pub text: String,
    }

    /// A document in `products.reviews`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct ProductReview {
        /// date 100 %.
        pub date: DateTime,
        /// int 100 %.
        pub stars: i32,
    }
}

pub mod guide_28 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `categories`: 6 of 6 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "categories")]
    pub struct Category {
        /// string 100 %.
        #[serde(rename = "_id")]
        pub id: String,
        /// string 83.3 %, null 16.7 %.
        /// 100 % of 3 ids resolve in `categories`.
        pub parent: Option<Ref<Category>>,
    }
}

pub mod guide_29 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `categories`: 6 of 6 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "categories")]
    pub struct Category {
        /// string 100 %.
        #[serde(rename = "_id")]
        pub id: String,
        /// array 100 %; at most 2 elements: string 100 %.
        /// 100 % of 5 ids resolve in `categories`.
        #[odm(references(many, max = 10))]
        pub children: Vec<Ref<Category>>,
    }
}

pub mod guide_30 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `categories`: 6 of 6 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "categories")]
    pub struct Category {
        /// string 100 %.
        #[serde(rename = "_id")]
        pub id: String,
        /// array 100 %; at most 3 elements: string 100 %.
        /// 100 % of 3 ids resolve in `categories`.
        #[odm(references(many, max = 10))]
        pub ancestors: Vec<Ref<Category>>,
        /// string 83.3 %, null 16.7 %.
        /// 100 % of 3 ids resolve in `categories`.
        pub parent: Option<Ref<Category>>,
    }
}

pub mod guide_31 {
    //! Models of existing collections, pulled by odm.

    use odm::prelude::*;

    /// A document of `categories`: 6 of 6 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "categories")]
    pub struct Category {
        /// string 100 %.
        #[serde(rename = "_id")]
        pub id: String,
        /// string 83.3 %, null 16.7 %.
        pub path: Option<String>,
    }
}

pub mod guide_32 {
    //! Models of existing collections, pulled by odm.

    use odm::bson;
    use odm::prelude::*;

    /// A document of `categories`: 6 of 6 were read.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "categories")]
    pub struct Category {
        /// string 100 %.
        #[serde(rename = "_id")]
        pub id: String,
        /// string 83.3 %, int 16.7 %.
        pub parent: bson::Bson,
        /// int 100 %.
        pub left: i32,
        /// int 100 %.
        pub right: i32,
    }
}
