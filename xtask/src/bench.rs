//! placeholder
use crate::run::Steps;
pub fn bench(_: &mut Steps, _: bool) {}
