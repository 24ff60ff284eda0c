//! Whole cars against closed forms, published figures and other codes.

pub mod commonroad;
mod fit;
mod frequency_response;
mod grounds;
pub mod handling;
mod handling_tests;
mod limit;
pub mod longitudinal;
pub mod moose;
pub mod published;
mod rollover;
mod turning;
