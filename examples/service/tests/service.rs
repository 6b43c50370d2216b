//! The service over real HTTP, on a database in memory.

use std::error::Error;

use axum::body::Body;
use axum::http::Request;
use odm::prelude::*;
use odm_service::{Order, Product, prepare, router};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A running service on a port and a database of its own.
struct Service {
    address: std::net::SocketAddr,
    db: Db,
}

impl Service {
    async fn start() -> Outcome<Self> {
        let db = Db::memory();
        prepare(&db).await?;
        Self::on(db).await
    }

    async fn on(db: Db) -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let routes = router(db.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok(Self { address, db })
    }

    /// Sends one request, and returns the status and the body as text.
    async fn send(&self, method: &str, path: &str, body: &str) -> Outcome<(u16, String)> {
        let mut stream = TcpStream::connect(self.address).await?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        let mut response = String::new();
        stream.read_to_string(&mut response).await?;
        let (head, body) = response
            .split_once("\r\n\r\n")
            .ok_or("no end of the head")?;
        let status = head.split(' ').nth(1).ok_or("no status")?.parse()?;
        Ok((status, body.to_owned()))
    }

    async fn request(&self, method: &str, path: &str, body: Value) -> Outcome<(u16, Value)> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let (status, body) = self.send(method, path, &body).await?;
        if body.is_empty() {
            return Ok((status, Value::Null));
        }
        Ok((
            status,
            serde_json::from_str(&body).map_err(|error| format!("{error}: {body}"))?,
        ))
    }

    async fn get(&self, path: &str) -> Outcome<(u16, Value)> {
        self.request("GET", path, Value::Null).await
    }

    async fn post(&self, path: &str, body: Value) -> Outcome<(u16, Value)> {
        self.request("POST", path, body).await
    }

    /// Makes a product, and returns its id.
    async fn product(&self, sku: &str, stock: i32) -> Outcome<String> {
        let (status, product) = self.post("/products", whale(sku, stock)).await?;
        assert_eq!(status, 201, "{product}");
        Ok(product["_id"].as_str().ok_or("no id")?.to_owned())
    }

    async fn stock(&self, id: &str) -> Outcome<i32> {
        let product = self.db.collection::<Product>().get(&Id::parse(id)?).await?;
        Ok(product.ok_or("no product")?.stock)
    }
}

fn whale(sku: &str, stock: i32) -> Value {
    json!({"sku": sku, "title": "Moby-Dick", "blurb": "about a whale", "price": "9.99", "stock": stock})
}

const MISSING: &str = "507f1f77bcf86cd799439011";

#[tokio::test]
async fn a_product_is_made_and_shown() -> Outcome {
    let service = Service::start().await?;
    let (status, made) = service.post("/products", whale("moby", 3)).await?;
    assert_eq!(status, 201);
    assert_eq!(made["price"], "9.99");
    let id = made["_id"].as_str().ok_or("the id is not text")?;
    let created = made["created_at"].as_str().ok_or("the date is not text")?;
    DateTime::parse_rfc3339_str(created)?;

    assert_eq!(service.get(&format!("/products/{id}")).await?, (200, made));
    Ok(())
}

#[tokio::test]
async fn bad_products_are_refused() -> Outcome {
    let service = Service::start().await?;
    service.product("moby", 1).await?;
    let (status, error) = service.post("/products", whale("moby", 1)).await?;
    assert_eq!(
        (status, error),
        (
            409,
            json!({"error": "sku: another document has this value"})
        )
    );

    // The declared rules.
    let (status, error) = service.post("/products", whale("dick", -1)).await?;
    assert_eq!(status, 422);
    assert!(
        error["error"].as_str().is_some_and(|e| e.contains("stock")),
        "{error}"
    );

    // The types.
    let mut product = whale("dick", 1);
    product["price"] = json!(9.99);
    let (status, error) = service.post("/products", product).await?;
    assert_eq!(status, 422);
    assert!(
        error["error"]
            .as_str()
            .is_some_and(|e| e.contains("price: ")),
        "{error}"
    );

    // The syntax.
    let (status, body) = service.send("POST", "/products", "{").await?;
    assert_eq!(status, 400);
    assert!(body.starts_with("{\"error\":"), "{body}");
    Ok(())
}

#[tokio::test]
async fn what_does_not_exist_is_not_found() -> Outcome {
    let service = Service::start().await?;
    let product = format!("/products/{MISSING}");
    let not_found = |what: &str| (404, json!({"error": format!("no such {what}")}));
    assert_eq!(service.get(&product).await?, not_found("product"));
    let change = json!({"stock": 1});
    assert_eq!(
        service.request("PATCH", &product, change).await?,
        not_found("product")
    );
    assert_eq!(
        service.request("DELETE", &product, Value::Null).await?,
        not_found("product")
    );
    assert_eq!(
        service.get(&format!("/orders/{MISSING}")).await?,
        not_found("order")
    );
    // Not an id.
    assert_eq!(service.send("GET", "/products/moby", "").await?.0, 400);
    Ok(())
}

#[tokio::test]
async fn products_are_changed_and_removed() -> Outcome {
    let service = Service::start().await?;
    let id = service.product("moby", 1).await?;
    let path = format!("/products/{id}");
    let (status, changed) = service.request("PATCH", &path, json!({"stock": 7})).await?;
    assert_eq!(
        (status, &changed["stock"], &changed["price"]),
        (200, &json!(7), &json!("9.99"))
    );
    let (_, changed) = service
        .request("PATCH", &path, json!({"price": "12.50"}))
        .await?;
    assert_eq!(
        (&changed["stock"], &changed["price"]),
        (&json!(7), &json!("12.50"))
    );
    assert_eq!(
        service
            .request("PATCH", &path, json!({"stock": -7}))
            .await?
            .0,
        422
    );
    assert_eq!(service.request("PATCH", &path, json!({})).await?.0, 422);
    assert_eq!(
        service
            .request("PATCH", &path, json!({"title": "x"}))
            .await?
            .0,
        422
    );
    assert_eq!(service.stock(&id).await?, 7);

    assert_eq!(
        service.request("DELETE", &path, Value::Null).await?,
        (204, Value::Null)
    );
    assert_eq!(service.get(&path).await?.0, 404);
    Ok(())
}

#[tokio::test]
async fn products_are_listed_by_page() -> Outcome {
    let service = Service::start().await?;
    for number in 0..5 {
        service.product(&format!("sku-{number}"), 1).await?;
    }
    let (status, page) = service.get("/products?page=2&size=2").await?;
    assert_eq!((status, &page["total"]), (200, &json!(5)));
    let skus: Vec<_> = page["items"]
        .as_array()
        .ok_or("no list")?
        .iter()
        .map(|p| &p["sku"])
        .collect();
    assert_eq!(skus, ["sku-2", "sku-3"]);
    let (_, page) = service.get("/products").await?;
    assert_eq!(page["items"].as_array().map(Vec::len), Some(5));
    assert_eq!(service.get("/products?size=0").await?.0, 400);
    assert_eq!(service.get("/products?page=0").await?.0, 400);
    assert_eq!(service.send("GET", "/products?size=x", "").await?.0, 400);
    Ok(())
}

#[tokio::test]
async fn products_are_imported_and_found_by_words() -> Outcome {
    let service = Service::start().await?;
    service.product("moby", 1).await?;
    let mut walden = whale("walden", 2);
    walden["title"] = json!("Walden");
    walden["blurb"] = json!("life in the woods");
    let (status, result) = service
        .post(
            "/products/import",
            json!([whale("moby", 1), walden, whale("dick", -1)]),
        )
        .await?;
    assert_eq!((status, &result["inserted"]), (200, &json!(1)));
    assert_eq!(
        result["failed"][0],
        json!({"index": 0, "error": "another product has this sku"})
    );
    assert_eq!(result["failed"][1]["index"], 2);
    assert!(
        result["failed"][1]["error"]
            .as_str()
            .is_some_and(|e| e.contains("stock")),
        "{result}"
    );
    let (_, result) = service
        .post("/products/import", json!([whale("two", 1)]))
        .await?;
    assert_eq!(result, json!({"inserted": 1, "failed": []}));

    let (status, found) = service.get("/products/search?q=wood").await?;
    assert_eq!((status, &found[0]["sku"]), (200, &json!("walden")));
    assert_eq!(
        service.get("/products/search?q=spaceship").await?,
        (200, json!([]))
    );
    assert_eq!(service.send("GET", "/products/search", "").await?.0, 400);
    Ok(())
}

#[tokio::test]
async fn an_order_takes_stock_or_does_nothing() -> Outcome {
    let service = Service::start().await?;
    let (moby, dick) = (
        service.product("moby", 3).await?,
        service.product("dick", 1).await?,
    );
    let lines = |one: i32, two: i32| json!({"lines": [{"product": moby, "quantity": one}, {"product": dick, "quantity": two}]});
    let (status, order) = service.post("/orders", lines(2, 1)).await?;
    assert_eq!((status, &order["total"]), (201, &json!("29.97")));
    assert_eq!(order["lines"][0]["product"], json!(moby));
    assert_eq!(
        (service.stock(&moby).await?, service.stock(&dick).await?),
        (1, 0)
    );
    let path = format!("/orders/{}", order["_id"].as_str().ok_or("no id")?);
    assert_eq!(service.get(&path).await?, (200, order));

    // The first line could be had, the second not.
    let (status, error) = service.post("/orders", lines(1, 1)).await?;
    assert_eq!(
        (status, error),
        (409, json!({"error": format!("{dick}: not in stock")}))
    );
    assert_eq!(service.stock(&moby).await?, 1);

    assert_eq!(service.post("/orders", json!({"lines": []})).await?.0, 422);
    assert_eq!(service.post("/orders", lines(-1, 1)).await?.0, 422);
    let (status, error) = service
        .post(
            "/orders",
            json!({"lines": [{"product": "moby", "quantity": 1}]}),
        )
        .await?;
    assert_eq!(status, 422);
    assert!(
        error["error"]
            .as_str()
            .is_some_and(|e| e.contains("lines.0.product: expected an id")),
        "{error}"
    );
    Ok(())
}

#[tokio::test]
async fn orders_are_listed_with_their_products() -> Outcome {
    let service = Service::start().await?;
    let whale = service.product("w1", 9).await?;
    let emma = service.product("e1", 9).await?;
    for product in [&whale, &emma] {
        let order = json!({"lines": [{"product": product, "quantity": 1}]});
        assert_eq!(service.post("/orders", order).await?.0, 201);
    }
    let (status, orders) = service.get("/orders").await?;
    assert_eq!((status, orders.as_array().map(Vec::len)), (200, Some(2)));

    let chosen = format!("/orders?product={whale}&since=2026-01-01T00:00:00Z");
    let (_, orders) = service.get(&chosen).await?;
    assert_eq!(orders.as_array().map(Vec::len), Some(1));
    assert_eq!(orders[0]["lines"][0]["product"], json!(whale));
    assert_eq!(orders[0]["product"][0]["_id"], json!(whale));
    assert_eq!(orders[0]["product"][0]["sku"], "w1");
    let (_, none) = service.get("/orders?since=2999-01-01T00:00:00Z").await?;
    assert_eq!(none, json!([]));
    let (status, text) = service.send("GET", "/orders?prodct=1", "").await?;
    assert_eq!(status, 400, "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_one_is_sold_once() -> Outcome {
    let service = Service::start().await?;
    let id = service.product("moby", 1).await?;
    let order = json!({"lines": [{"product": id, "quantity": 1}]});
    let place = || service.post("/orders", order.clone());
    let (a, b, c) = tokio::try_join!(place(), place(), place())?;
    let mut statuses = [a.0, b.0, c.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409]);
    assert_eq!(service.stock(&id).await?, 0);
    Ok(())
}

#[tokio::test]
async fn other_errors_have_no_details() -> Outcome {
    let service = Service::start().await?;
    // A document that is not a product, which the validator would refuse.
    let raw = doc! {"insert": "products", "documents": [{"sku": "secret"}], "bypassDocumentValidation": true};
    service.db.run_command(raw).await?;
    let (status, error) = service.get("/products").await?;
    assert_eq!(
        (status, error),
        (500, json!({"error": "something went wrong"}))
    );
    Ok(())
}

#[tokio::test]
async fn the_health_is_that_of_the_database() -> Outcome {
    let service = Service::start().await?;
    assert_eq!(service.get("/health").await?, (204, Value::Null));
    // Nothing listens on port 1.
    let nowhere = Db::connect("mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=50").await?;
    let (status, _) = Service::on(nowhere).await?.get("/health").await?;
    assert_eq!(status, 503);
    Ok(())
}

#[tokio::test]
async fn a_request_needs_no_port() -> Outcome {
    let db = Db::memory();
    prepare(&db).await?;
    let request = Request::get("/products").body(Body::empty())?;
    assert_eq!(router(db).oneshot(request).await?.status(), 200);
    Ok(())
}

#[tokio::test]
async fn changes_are_sent_as_they_happen() -> Outcome {
    let service = Service::start().await?;
    let mut stream = TcpStream::connect(service.address).await?;
    let head = b"GET /products/changes HTTP/1.1\r\nhost: shop\r\n\r\n";
    stream.write_all(head).await?;
    // The head arrives when the change stream is open.
    let mut received = vec![0; 1];
    stream.read_exact(&mut received).await?;

    let id = service.product("moby", 3).await?;
    let (status, _) = service
        .request("DELETE", &format!("/products/{id}"), Value::Null)
        .await?;
    assert_eq!(status, 204);
    let deleted = format!("event: deleted\ndata: {id}\n");
    while !String::from_utf8_lossy(&received).contains(&deleted) {
        assert_ne!(stream.read_buf(&mut received).await?, 0, "the stream ended");
    }
    let received = String::from_utf8_lossy(&received).into_owned();
    assert!(
        received.contains("content-type: text/event-stream"),
        "{received}"
    );
    let stored = format!("event: stored\ndata: {{\"_id\":\"{id}\"");
    assert!(received.contains(&stored), "{received}");
    Ok(())
}

#[tokio::test]
async fn sales_are_reported_by_day_and_product() -> Outcome {
    let service = Service::start().await?;
    let whale = service.product("w1", 9).await?;
    let emma = service.product("e1", 9).await?;
    for (product, quantity) in [(&whale, 2), (&emma, 1), (&whale, 1)] {
        let order = json!({"lines": [{"product": product, "quantity": quantity}]});
        assert_eq!(service.post("/orders", order).await?.0, 201);
    }
    // Two of the orders are older, on two days of UTC and one of New York.
    let orders = service.db.collection::<Order>();
    for (order, time) in orders
        .find_all()
        .all()
        .await?
        .iter()
        .zip(["2026-03-01T23:30:00Z", "2026-03-02T00:30:00Z"])
    {
        let time = DateTime::parse_rfc3339_str(time)?;
        let placed = orders.update_by_id(&order.id, |o| o.placed_at.set(time));
        placed.await?;
    }
    service
        .db
        .collection::<Product>()
        .delete_by_id(&Id::parse(&emma)?)
        .await?;

    let (status, sales) = service.get("/reports/sales").await?;
    assert_eq!(status, 200, "{sales}");
    let days = sales["days"].as_array().ok_or("no days")?;
    assert_eq!(days.len(), 3, "{sales}");
    assert_eq!(
        days[0],
        json!({"date": "2026-03-01", "orders": 1, "turnover": "19.98", "until_then": "19.98"})
    );
    assert_eq!(
        days[1],
        json!({"date": "2026-03-02", "orders": 1, "turnover": "9.99", "until_then": "29.97"})
    );
    assert_eq!(days[2]["until_then"], "39.96");
    let best = json!([
        {"title": "Moby-Dick", "pieces": 3, "turnover": "29.97", "stock": 6},
        {"title": "Moby-Dick", "pieces": 1, "turnover": "9.99", "stock": null},
    ]);
    assert_eq!(sales["products"], best);

    let (_, sales) = service.get("/reports/sales?zone=America/New_York").await?;
    let first =
        json!({"date": "2026-03-01", "orders": 2, "turnover": "29.97", "until_then": "29.97"});
    assert_eq!(sales["days"][0], first);
    let (_, none) = service
        .get("/reports/sales?since=2999-01-01T00:00:00Z")
        .await?;
    assert_eq!(none, json!({"days": [], "products": []}));
    let (status, error) = service.get("/reports/sales?zone=Mars/Base").await?;
    assert_eq!(status, 422, "{error}");
    Ok(())
}
