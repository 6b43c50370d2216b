//! Checks connection strings before anything connects.

use mongodb::Client;
use mongodb::error::ErrorKind;
use mongodb::options::ClientOptions;

use super::{Driver, error};
use crate::error::{ConfigError, Error, Result};

impl Driver {
    /// Creates a client for the connection string, which must name a database. The first operation
    /// that needs a connection opens it.
    pub(crate) async fn connect(uri: &str) -> Result<Self> {
        check_scheme(uri)?;
        let mut options = match ClientOptions::parse(uri).await {
            Ok(options) => options,
            Err(failure) => return Err(scrub(uri, &failure)),
        };
        let Some(database) = options.default_database.clone() else {
            return Err(Error::new(ConfigError::new(
                "the connection string names no database: write it after the hosts, as in \
                 `mongodb://localhost:27017/app`",
            )));
        };
        options
            .app_name
            .get_or_insert_with(|| concat!("odm ", env!("CARGO_PKG_VERSION")).to_owned());
        let client = Client::with_options(options).map_err(|failure| scrub(uri, &failure))?;
        Ok(Self::new(client.database(&database)))
    }
}

fn check_scheme(uri: &str) -> Result<()> {
    if uri.starts_with("mongodb://") {
        return Ok(());
    }
    if uri.starts_with("mongodb+srv://") {
        if cfg!(feature = "srv") {
            return Ok(());
        }
        return Err(Error::new(ConfigError::new(
            "`mongodb+srv` needs DNS, which is not built in: enable the feature `srv` of \
             `mongodb-odm` (`features = [\"srv\"]` in Cargo.toml)",
        )));
    }
    Err(Error::new(ConfigError::new(
        "a connection string must start with `mongodb://` or `mongodb+srv://`",
    )))
}

/// The driver's error about the connection string, without the string's secrets.
fn scrub(uri: &str, failure: &mongodb::error::Error) -> Error {
    let message = match &*failure.kind {
        ErrorKind::InvalidArgument { message, .. } => message.clone(),
        ErrorKind::InvalidTlsConfig { message, .. } => format!("TLS: {message}"),
        _ => return error(failure.clone()),
    };
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    // A password may contain an unescaped `@` or `/`, so everything up to the last `@` may be secret.
    let secret = rest.rsplit_once('@').map(|(userinfo, _)| userinfo);
    let leaks = secret.is_some_and(|secret| {
        secret
            .split([':', '@', '/'])
            .filter(|part| !part.is_empty())
            .any(|part| message.contains(part))
    });
    Error::new(ConfigError::new(if leaks {
        "the connection string is malformed: user name and password must be percent-encoded"
            .to_owned()
    } else {
        format!("the connection string is malformed: {message}")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn refusal(uri: &str) -> String {
        let error = Driver::connect(uri).await.unwrap_err();
        assert!(error.is_config(), "{error:?}");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
        error.to_string()
    }

    #[tokio::test]
    async fn invalid_uris_explain_the_format() {
        let message = refusal("mongodb://localhost:27017").await;
        assert!(
            message.contains("mongodb://localhost:27017/app"),
            "{message}"
        );
        let message = refusal("localhost/app").await;
        assert!(
            message.contains("must start with `mongodb://`"),
            "{message}"
        );
        if !cfg!(feature = "srv") {
            let message = refusal("mongodb+srv://u:hunter2@example.com/app").await;
            assert!(message.contains("the feature `srv`"), "{message}");
        }
    }

    #[tokio::test]
    async fn never_shows_a_password() {
        for uri in [
            "mongodb://u:hunter2@@localhost/app",
            "mongodb://u:hunter2/x@localhost/app",
            "mongodb://u:hunter2%@localhost/app",
            "mongodb://u:hunter2@localhost:99999/app",
            "mongodb://u:hunter2@localhost/app?w=-1",
            "mongodb://u:hunter2@",
        ] {
            refusal(uri).await;
        }
    }
}
