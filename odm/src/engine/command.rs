//! One file for each command: parse, run, reply.
