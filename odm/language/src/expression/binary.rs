//! Binary data as text, for `$convert`, `$toString` and `$toUUID` of 8.0.

use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD};
use base64::engine::{DecodePaddingMode, Engine};
use bson::raw::{RawBinaryRef, RawBson};
use bson::spec::BinarySubtype;
use bson::{Binary, Uuid};

use crate::error::{Code, ServerError};
use crate::value::print;

/// Base64 with the characters of URLs. It writes no padding, and reads text with and without.
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    NO_PAD.with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// How a text stands for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// A UUID as `uuid`, anything else as `base64`; only for writing.
    Auto,
    Base64,
    Base64Url,
    Hex,
    Utf8,
    Uuid,
}

/// The formats by name.
const FORMATS: [(&str, Format); 6] = [
    ("auto", Format::Auto),
    ("base64", Format::Base64),
    ("base64url", Format::Base64Url),
    ("hex", Format::Hex),
    ("utf8", Format::Utf8),
    ("uuid", Format::Uuid),
];

impl Format {
    pub(super) fn named(name: &str) -> Result<Self, ServerError> {
        let found = FORMATS.iter().find(|(known, _)| *known == name);
        found.map(|(_, format)| *format).ok_or_else(|| {
            ServerError::new(
                Code::BAD_VALUE,
                format!("Invalid 'format' argument for $convert: {name}"),
            )
        })
    }
}

fn failure<T>(message: String) -> Result<T, ServerError> {
    Err(ServerError::new(
        Code::CONVERSION_FAILURE,
        message + " in $convert with no onError value",
    ))
}

/// The text of binary data.
pub(super) fn to_text(binary: RawBinaryRef<'_>, format: Format) -> Result<RawBson, ServerError> {
    let RawBinaryRef { subtype, bytes } = binary;
    let uuid = match (subtype, bytes.try_into()) {
        (BinarySubtype::Uuid, Ok(bytes)) => Some(Uuid::from_bytes(bytes)),
        _ => None,
    };
    Ok(RawBson::String(match (format, uuid) {
        (Format::Auto | Format::Uuid, Some(uuid)) => uuid.to_string(),
        (Format::Uuid, None) => {
            return failure("Binary data that is no UUID can't be written as one".to_owned());
        }
        (Format::Auto | Format::Base64, _) => STANDARD.encode(bytes),
        (Format::Base64Url, _) => BASE64_URL.encode(bytes),
        (Format::Hex, _) => {
            let mut text = String::new();
            print::hex(&mut text, bytes);
            text
        }
        (Format::Utf8, _) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return failure("Binary data is no valid UTF-8".to_owned()),
        },
    }))
}

/// The binary data that a text stands for. Only `uuid` makes data of the subtype of UUIDs, and no other.
pub(super) fn from_text(
    text: &str,
    format: Format,
    subtype: BinarySubtype,
) -> Result<RawBson, ServerError> {
    if (format == Format::Uuid) != (subtype == BinarySubtype::Uuid) {
        return failure("The format 'uuid' belongs to the subtype 4, and to no other".to_owned());
    }
    let read = match format {
        Format::Auto => None,
        Format::Base64 => STANDARD.decode(text).ok(),
        Format::Base64Url => BASE64_URL.decode(text).ok(),
        Format::Hex => from_hex(text),
        Format::Utf8 => Some(text.as_bytes().to_vec()),
        Format::Uuid => from_uuid(text),
    };
    match read {
        Some(bytes) => Ok(RawBson::Binary(Binary { subtype, bytes })),
        None => failure(format!(
            "Input string '{text}' is not of the format '{}'",
            name(format)
        )),
    }
}

fn name(format: Format) -> &'static str {
    let found = FORMATS.iter().find(|(_, known)| *known == format);
    found.map_or("", |(name, _)| name)
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| u8::try_from(digit.to_digit(16)?).ok())
        .collect();
    let digits = digits?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty()
        .then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

/// The bytes of a UUID with its four hyphens.
fn from_uuid(text: &str) -> Option<Vec<u8>> {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    if groups != [8, 4, 4, 4, 12] {
        return None;
    }
    from_hex(&text.replace('-', ""))
}
