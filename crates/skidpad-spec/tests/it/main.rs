//! Tests of the vehicle file format from outside.

mod shipped;
