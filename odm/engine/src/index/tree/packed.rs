//! Byte strings packed one after the other, from which any can be removed.

/// The bytes of a leaf. Removing a string near the front leaves free space there, so that at most half of the bytes
/// move, and none if the oldest string is removed first.
#[derive(Debug, Default)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    /// The start of the first string; the bytes before it are free.
    begin: usize,
}

/// The strings that moved when one was resized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    /// Those before it; its end stayed in place.
    Before,
    /// Those after it; its start stayed in place.
    Behind,
}

/// Buffer sizes are multiples of this, so that freed buffers can be reused.
const STEP: usize = 512;

/// The step for small buffers: most collections in tests have few documents.
const SMALL_STEP: usize = 64;

/// The bytes that an allocator adds to a buffer.
const HEADER: usize = 16;

/// The capacity of a buffer for this many bytes.
fn capacity(bytes: usize) -> usize {
    let whole = bytes + HEADER;
    let step = if whole > STEP { STEP } else { SMALL_STEP };
    whole.next_multiple_of(step) - HEADER
}

/// A buffer of a standard size that contains these bytes.
fn buffer(bytes: &[u8], room: usize) -> Vec<u8> {
    let mut buffer = Vec::with_capacity(capacity(bytes.len() + room));
    buffer.extend_from_slice(bytes);
    buffer
}

impl Packed {
    /// A copy with capacity for `room` more bytes.
    pub(super) fn with_room(&self, room: usize) -> Self {
        Self {
            bytes: buffer(self.live(), room),
            begin: 0,
        }
    }

    /// The start of the first string.
    #[inline]
    pub(super) fn begin(&self) -> usize {
        self.begin
    }

    /// The end of the last string.
    #[inline]
    pub(super) fn end(&self) -> usize {
        self.bytes.len()
    }

    /// The size of all strings.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.begin
    }

    #[inline]
    pub(super) fn live(&self) -> &[u8] {
        self.bytes.get(self.begin..).unwrap_or_default()
    }

    #[inline]
    pub(super) fn get(&self, start: usize, end: usize) -> Option<&[u8]> {
        self.bytes.get(start..end)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, start: usize, end: usize) -> Option<&mut [u8]> {
        self.bytes.get_mut(start..end)
    }

    #[inline]
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// The eight bytes at a place, as a number.
    #[inline]
    pub(super) fn word(&self, at: usize) -> u64 {
        let bytes = self.bytes.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
    }

    /// The free capacity at the end.
    #[inline]
    pub(super) fn room(&self) -> usize {
        self.bytes.capacity() - self.bytes.len()
    }

    /// Reserves `more` bytes at the end. A large buffer grows by at least an eighth, so that appending stays cheap.
    pub(super) fn reserve(&mut self, more: usize) {
        if self.room() >= more {
            return;
        }
        let geometric = self.bytes.len().saturating_sub(STEP * 8) / 8;
        let more = more.max(geometric);
        // The old buffer is freed before the new one is allocated, which may then take its place and the free memory
        // beside it. Otherwise leaves that grow in random order would waste as much memory as they use.
        let kept = self.bytes.clone();
        self.bytes = Vec::new();
        self.bytes = buffer(&kept, more);
    }

    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// Removes the free space in front, and returns its size, by which all strings moved.
    pub(super) fn close(&mut self) -> usize {
        let begin = std::mem::take(&mut self.begin);
        if begin > 0 {
            self.bytes.drain(..begin);
        }
        begin
    }

    /// Resizes the string between two positions; the caller then writes its bytes. To grow, the buffer must have
    /// capacity at the end.
    pub(super) fn resize(&mut self, start: usize, end: usize, size: usize) -> Moved {
        let (begin, len) = (self.begin, self.bytes.len());
        let (before, is_near) = (end - start, start - begin <= len - end);
        if let Some(more) = size.checked_sub(before) {
            if is_near && more <= begin {
                self.begin = begin - more;
                self.bytes.copy_within(begin..start, self.begin);
                return Moved::Before;
            }
            if more > 0 {
                self.bytes.resize(len + more, 0);
                self.bytes.copy_within(end..len, end + more);
            }
        } else if is_near {
            self.begin = begin + (before - size);
            if start > begin {
                self.bytes.copy_within(begin..start, self.begin);
            }
            return Moved::Before;
        } else {
            self.bytes.drain(start + size..end);
        }
        Moved::Behind
    }

    /// Splits off the bytes from a position on. If it `grows`, the right part gets the capacity that all bytes needed.
    /// There must be no free space in front.
    pub(super) fn split(&mut self, at: usize, grows: bool) -> Self {
        let all = self.bytes.len();
        let right = if grows {
            let tail = self.bytes.get(at..).unwrap_or_default();
            let right = buffer(tail, all - tail.len());
            self.bytes.truncate(at);
            self.bytes.shrink_to(capacity(at));
            right
        } else {
            // As in `reserve`, free the old buffer first.
            let kept = self.bytes.clone();
            self.bytes = Vec::new();
            let (left, right) = kept.split_at_checked(at).unwrap_or((&kept, &[]));
            self.bytes = buffer(left, 0);
            buffer(right, 0)
        };
        Self {
            bytes: right,
            begin: 0,
        }
    }
}
