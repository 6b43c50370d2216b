//! Reads little-endian fields in sequence.

use bson::raw::RawDocument;

use super::Fault;

/// The unread rest of a body. Reading past its end is [`Fault::Truncated`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Fault::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Fault::Truncated)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Fault> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn i32(&mut self) -> Result<i32, Fault> {
        self.array().map(i32::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Fault> {
        self.array().map(u32::from_le_bytes)
    }

    /// A string that ends with a NUL.
    pub(super) fn cstring(&mut self) -> Result<&'a str, Fault> {
        let end = self.0.iter().position(|byte| *byte == 0);
        let text = self.take(end.ok_or(Fault::Truncated)?)?;
        self.u8()?;
        str::from_utf8(text).map_err(|_| Fault::Rule(22, "a name is not UTF-8".to_owned()))
    }

    /// A document, of which only the length and the last byte are checked.
    pub(super) fn document(&mut self) -> Result<&'a RawDocument, Fault> {
        let fault = |what: String| Fault::Rule(22, format!("a document is not BSON: {what}"));
        let length = usize::try_from(Self(self.0).i32()?).unwrap_or_default();
        let bytes = self
            .take(length)
            .map_err(|_| fault("it ends before its length".to_owned()))?;
        RawDocument::from_bytes(bytes).map_err(|e| fault(e.to_string()))
    }
}
