//! Byte strings one after the other, of which any may be taken out.

/// The bytes of a leaf. What is taken out near the front leaves room there, so that no more than half is ever moved,
/// and nothing at all where the oldest goes first.
#[derive(Debug, Default)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    /// Where the first begins: what lies before it is room.
    begin: usize,
}

/// Which strings were moved as one got another size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    /// Those before it: it ends where it did.
    Before,
    /// Those behind it: it begins where it did.
    Behind,
}

/// The sizes of buffers are multiples of this, so that the memory of one that went fits others.
const STEP: usize = 512;

/// The same of small buffers: most collections in tests have few documents.
const SMALL_STEP: usize = 64;

/// What an allocator adds to a buffer.
const HEADER: usize = 16;

/// The capacity of a buffer for so many bytes.
fn capacity(bytes: usize) -> usize {
    let whole = bytes + HEADER;
    let step = if whole > STEP { STEP } else { SMALL_STEP };
    whole.next_multiple_of(step) - HEADER
}

/// A buffer of a usual size with these bytes in it.
fn buffer(bytes: &[u8], room: usize) -> Vec<u8> {
    let mut buffer = Vec::with_capacity(capacity(bytes.len() + room));
    buffer.extend_from_slice(bytes);
    buffer
}

impl Packed {
    /// A copy with room for so many bytes more.
    pub(super) fn with_room(&self, room: usize) -> Self {
        Self {
            bytes: buffer(self.live(), room),
            begin: 0,
        }
    }

    /// Where the first begins.
    #[inline]
    pub(super) fn begin(&self) -> usize {
        self.begin
    }

    /// Where the last ends.
    #[inline]
    pub(super) fn end(&self) -> usize {
        self.bytes.len()
    }

    /// The size of all.
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

    /// How many bytes more it has room for at the end.
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

    /// Gives up the room in front; the answer is how large it was, and so how far all have moved.
    pub(super) fn close(&mut self) -> usize {
        let begin = std::mem::take(&mut self.begin);
        if begin > 0 {
            self.bytes.drain(..begin);
        }
        begin
    }

    /// Gives the string between two places another size, and what to write there is up to the caller. To grow, it has
    /// room at the end.
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

    /// Splits off what lies behind a place, with room to become as large as all of it was where it `grows`. There is no
    /// room in front.
    pub(super) fn split(&mut self, at: usize, grows: bool) -> Self {
        let all = self.bytes.len();
        let right = if grows {
            let tail = self.bytes.get(at..).unwrap_or_default();
            let right = buffer(tail, all - tail.len());
            self.bytes.truncate(at);
            self.bytes.shrink_to(capacity(at));
            right
        } else {
            // As in `reserve`, the old buffer goes first.
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
