//! The server side of SCRAM-SHA-256 (RFC 5802, RFC 7677).
//!
//! This module does not depend on commands: it takes the client's bytes and returns the server's. Every failure is a
//! [`Refused`], which does not reveal the reason.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The length of a SHA-256 hash.
const LENGTH: usize = 32;

/// The number of hash iterations, as in MongoDB.
const ITERATIONS: u32 = 15_000;

/// The stored form of a password.
#[derive(Clone)]
pub(crate) struct Credentials {
    salt: Vec<u8>,
    stored_key: [u8; LENGTH],
    server_key: [u8; LENGTH],
}

impl Credentials {
    /// Fails if the password has prohibited characters.
    pub(crate) fn new(password: &str) -> Result<Self, stringprep::Error> {
        let password = stringprep::saslprep(password)?;
        let salt = random(28);
        let mut salted = [0; LENGTH];
        pbkdf2::pbkdf2_hmac::<Sha256>(password.as_bytes(), &salt, ITERATIONS, &mut salted);
        Ok(Self {
            salt,
            stored_key: Sha256::digest(mac(&salted, b"Client Key")).into(),
            server_key: mac(&salted, b"Server Key"),
        })
    }
}

/// The authentication failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused;

/// The first message of a client, with the user name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opening<'a> {
    pub(crate) user: String,
    header: &'a str,
    bare: &'a str,
    nonce: &'a str,
}

impl<'a> Opening<'a> {
    pub(crate) fn parse(payload: &'a [u8]) -> Result<Self, Refused> {
        let text = str::from_utf8(payload).map_err(|_| Refused)?;
        // Without channel binding and without an authorization identity.
        let bare = text
            .strip_prefix("n,,")
            .or_else(|| text.strip_prefix("y,,"))
            .ok_or(Refused)?;
        let (header, _) = text.split_at_checked(3).ok_or(Refused)?;
        let mut fields = bare.split(',');
        let user = fields.next().and_then(|field| field.strip_prefix("n="));
        let nonce = fields.next().and_then(|field| field.strip_prefix("r="));
        Ok(Self {
            user: unescape(user.ok_or(Refused)?)?,
            header,
            bare,
            nonce: nonce.filter(|nonce| !nonce.is_empty()).ok_or(Refused)?,
        })
    }

    /// Begins the exchange, and returns it with the first answer.
    pub(crate) fn answer(&self, credentials: &Credentials) -> (Exchange, String) {
        let nonce = format!("{}{}", self.nonce, STANDARD.encode(random(24)));
        let salt = STANDARD.encode(&credentials.salt);
        let answer = format!("r={nonce},s={salt},i={ITERATIONS}");
        let exchange = Exchange {
            credentials: credentials.clone(),
            binding: STANDARD.encode(self.header),
            so_far: format!("{},{answer}", self.bare),
            nonce,
        };
        (exchange, answer)
    }
}

/// Unescapes the commas and equals signs in a name.
fn unescape(name: &str) -> Result<String, Refused> {
    let mut parts = name.split('=');
    let mut unescaped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (sign, rest) = match (part.strip_prefix("2C"), part.strip_prefix("3D")) {
            (Some(rest), _) => (',', rest),
            (_, Some(rest)) => ('=', rest),
            _ => return Err(Refused),
        };
        unescaped.push(sign);
        unescaped.push_str(rest);
    }
    if unescaped.is_empty() {
        return Err(Refused);
    }
    Ok(unescaped)
}

/// An exchange after the first answer.
pub(crate) struct Exchange {
    credentials: Credentials,
    binding: String,
    so_far: String,
    nonce: String,
}

impl Exchange {
    /// Checks the client's proof, and returns the server's signature.
    pub(crate) fn finish(&self, payload: &[u8]) -> Result<String, Refused> {
        let text = str::from_utf8(payload).map_err(|_| Refused)?;
        let (unproved, proof) = text.rsplit_once(",p=").ok_or(Refused)?;
        let mut fields = unproved.split(',');
        let binding = fields.next().and_then(|field| field.strip_prefix("c="));
        let nonce = fields.next().and_then(|field| field.strip_prefix("r="));
        if binding != Some(&self.binding) || nonce != Some(&self.nonce) {
            return Err(Refused);
        }
        let proof = STANDARD.decode(proof).map_err(|_| Refused)?;
        let proof: [u8; LENGTH] = proof.try_into().map_err(|_| Refused)?;
        let whole = format!("{},{unproved}", self.so_far);
        let signature = mac(&self.credentials.stored_key, whole.as_bytes());
        let mut key = proof;
        for (byte, sign) in key.iter_mut().zip(signature) {
            *byte ^= sign;
        }
        let found: [u8; LENGTH] = Sha256::digest(key).into();
        if !bool::from(found.ct_eq(&self.credentials.stored_key)) {
            return Err(Refused);
        }
        let signature = mac(&self.credentials.server_key, whole.as_bytes());
        Ok(format!("v={}", STANDARD.encode(signature)))
    }
}

/// Random bytes from the operating system.
fn random(length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        // All but six bits of a random UUID are random.
        bytes.extend(bson::Uuid::new().bytes());
    }
    bytes.truncate(length);
    bytes
}

fn mac(key: &[u8; LENGTH], message: &[u8]) -> [u8; LENGTH] {
    let mut mac = Hmac::<Sha256>::new(&sized(key));
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// The key, padded to the block length of the hash.
fn sized(key: &[u8; LENGTH]) -> hmac::digest::Key<Hmac<Sha256>> {
    let mut block = hmac::digest::Key::<Hmac<Sha256>>::default();
    for (byte, of_key) in block.iter_mut().zip(key) {
        *byte = *of_key;
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client's proof.
    fn proof(password: &str, answer: &str, bare: &str, unproved: &str) -> String {
        let fields: Vec<&str> = answer.split(',').collect();
        let salt = STANDARD
            .decode(fields[1].strip_prefix("s=").unwrap())
            .unwrap();
        let mut salted = [0; LENGTH];
        pbkdf2::pbkdf2_hmac::<Sha256>(password.as_bytes(), &salt, ITERATIONS, &mut salted);
        let key = mac(&salted, b"Client Key");
        let stored: [u8; LENGTH] = Sha256::digest(key).into();
        let signature = mac(&stored, format!("{bare},{answer},{unproved}").as_bytes());
        let proof: Vec<u8> = key.iter().zip(signature).map(|(a, b)| a ^ b).collect();
        STANDARD.encode(proof)
    }

    #[test]
    fn only_the_right_password_authenticates() {
        let credentials = Credentials::new("pencil").unwrap();
        let opening = Opening::parse(b"n,,n=ann,r=abc").unwrap();
        assert_eq!(opening.user, "ann");
        let (exchange, answer) = opening.answer(&credentials);
        assert!(answer.starts_with("r=abc") && answer.ends_with(",i=15000"));
        let nonce = answer.split(',').next().unwrap();
        let unproved = format!("c=biws,{nonce}");
        let say = |password: &str| {
            let proof = proof(password, &answer, "n=ann,r=abc", &unproved);
            exchange.finish(format!("{unproved},p={proof}").as_bytes())
        };
        assert!(say("pencil").unwrap().starts_with("v="));
        assert_eq!(say("pencils"), Err(Refused));
        for wrong in [
            "",
            "c=biws",
            "c=biws,r=abc,p=AAAA",
            "c=eSws,r=abc,p=",
            "\u{e9}",
        ] {
            assert_eq!(exchange.finish(wrong.as_bytes()), Err(Refused), "{wrong}");
        }
    }

    #[test]
    fn malformed_sasl_starts_are_refused() {
        for wrong in [
            "",
            "garbage",
            "n,,n=ann",
            "n,,n=ann,r=",
            "n,,n=,r=abc",
            "n,,n=a=nn,r=abc",
            "n,a=bob,n=ann,r=abc",
            "p=tls-unique,,n=ann,r=abc",
        ] {
            assert_eq!(Opening::parse(wrong.as_bytes()), Err(Refused), "{wrong}");
        }
        let escaped = Opening::parse(b"y,,n=a=2Cb=3D,r=abc").unwrap();
        assert_eq!(escaped.user, "a,b=");
    }
}
