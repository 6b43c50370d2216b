#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| odm_fuzz::targets::files(data));
