//! What the derives accept, and the messages for what they refuse: `ui.rs` compiles the files in `ui/`.
