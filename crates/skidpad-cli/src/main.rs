//! The `skidpad` command.

fn main() {}
