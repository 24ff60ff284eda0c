//! Stands in for the derive of schemars in builds that need no schema: types keep their `#[schemars(...)]` attributes, and
//! nothing is derived from them.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

/// Derives nothing.
#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn json_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
