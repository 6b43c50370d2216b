//! Frames of the wire protocol: what is read must be read again from the reply that it is sent back in.

use odm_server::tools::{read_frame, read_scram};

/// What can be written into a header, so that most inputs come past it.
const OPCODES: [i32; 4] = [2013, 2012, 2004, 1];

/// Takes the input for frames one after the other, with lengths and opcodes that are their own or made to fit.
pub fn frames(data: &[u8]) {
    read_frame(data);
    read_scram(data);
    let Some((choice, body)) = data.split_first() else {
        return;
    };
    let opcode = OPCODES[usize::from(choice % 4)];
    let Ok(length) = i32::try_from(body.len() + 16) else {
        return;
    };
    let mut frame = Vec::with_capacity(body.len() + 16);
    for field in [length, 1, 0, opcode] {
        frame.extend(field.to_le_bytes());
    }
    // Flags of which most are required would let few in.
    match body.split_first_chunk::<4>() {
        Some((flags, rest)) if opcode == 2013 => {
            let flags = u32::from_le_bytes(*flags) & 0x0001_0003;
            frame.extend(flags.to_le_bytes());
            frame.extend(rest);
        }
        _ => frame.extend(body),
    }
    read_frame(&frame);
}
