//! Session ids: their parts and their text form.

use bson::raw::{RawBinaryRef, RawBsonRef, RawDocument};
use bson::spec::BinarySubtype;

use odm_language::error::{Code, ServerError};
use odm_language::value::{bson_type, print, raw};

/// The user digest of every session: the SHA-256 hash of an empty user name.
pub const NOBODY: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
    0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

/// [`NOBODY`] in base64, as messages show it.
const NOBODY_SHOWN: &str = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

/// Refuses an invalid session id in a command's `lsid`.
pub(crate) fn check(lsid: &RawDocument) -> Result<(), ServerError> {
    const AT: &str = "OperationSessionInfo.lsid";
    let mut has_id = false;
    for (name, value) in raw::elements(lsid) {
        match (name, value) {
            // The form that all drivers send.
            ("id", RawBsonRef::Binary(id))
                if id.subtype == BinarySubtype::Uuid && id.bytes.len() == 16 =>
            {
                has_id = true;
            }
            ("id", _) => {
                uuid(value, &format!("{AT}.{name}"))?;
            }
            ("uid", _) => {
                digest(value, &format!("{AT}.{name}"))?;
            }
            ("txnNumber" | "txnUUID", _) => {}
            _ => {
                return Err(ServerError::new(
                    Code::location(40415),
                    format!("BSON field '{AT}.{name}' is an unknown field."),
                ));
            }
        }
    }
    if has_id {
        return Ok(());
    }
    Err(ServerError::new(
        Code::location(40414),
        format!("BSON field '{AT}.id' is missing but a required field"),
    ))
}

/// A session's id as messages show it.
pub(crate) fn show(lsid: &[u8]) -> String {
    let Ok(lsid) = RawDocument::from_bytes(lsid) else {
        return String::new();
    };
    match raw::get(lsid, "id") {
        Some(id) => print::value(id)
            .trim_start_matches("UUID(\"")
            .trim_end_matches("\")")
            .to_owned(),
        None => String::new(),
    }
}

/// A session's id as messages show it, with its user digest.
pub(crate) fn show_whole(lsid: &[u8]) -> String {
    format!("{} - {NOBODY_SHOWN} -  - ", show(lsid))
}

pub(crate) fn uuid(value: RawBsonRef<'_>, field: &str) -> Result<[u8; 16], ServerError> {
    let binary = binary(value, field)?;
    if binary.subtype != BinarySubtype::Uuid {
        return Err(wrong_subtype(field, binary.subtype, "UUID"));
    }
    binary.bytes.try_into().map_err(|_| {
        ServerError::new(
            Code::INVALID_UUID,
            "uuid must be a 16-byte binary field with UUID (4) subtype",
        )
    })
}

pub(crate) fn digest(value: RawBsonRef<'_>, field: &str) -> Result<[u8; 32], ServerError> {
    let binary = binary(value, field)?;
    if binary.subtype != BinarySubtype::Generic {
        return Err(wrong_subtype(field, binary.subtype, "general"));
    }
    binary.bytes.try_into().map_err(|_| {
        ServerError::new(
            Code::UNSUPPORTED_FORMAT,
            format!(
                "Unsupported SHA256Block hash length: {}",
                binary.bytes.len()
            ),
        )
    })
}

fn binary<'a>(value: RawBsonRef<'a>, field: &str) -> Result<RawBinaryRef<'a>, ServerError> {
    match value {
        RawBsonRef::Binary(binary) => Ok(binary),
        other => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!(
                "BSON field '{field}' is the wrong type '{}', expected type 'binData'",
                bson_type::alias(other.element_type())
            ),
        )),
    }
}

fn wrong_subtype(field: &str, found: BinarySubtype, expected: &str) -> ServerError {
    let found = match found {
        BinarySubtype::Generic => "general",
        BinarySubtype::Function => "function",
        BinarySubtype::BinaryOld => "byte(deprecated)",
        BinarySubtype::UuidOld => "UUID(deprecated)",
        BinarySubtype::Uuid => "UUID",
        BinarySubtype::Md5 => "MD5",
        BinarySubtype::Encrypted => "encrypt",
        BinarySubtype::Column => "column",
        _ => "Custom",
    };
    ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "BSON field '{field}' is the wrong binData type '{found}', expected type '{expected}'"
        ),
    )
}

/// The bytes of the `id` field in an `lsid` document.
pub(crate) fn id_of(lsid: &[u8]) -> Option<&[u8]> {
    let lsid = RawDocument::from_bytes(lsid).ok()?;
    match raw::get(lsid, "id")? {
        RawBsonRef::Binary(binary) => Some(binary.bytes),
        _ => None,
    }
}
