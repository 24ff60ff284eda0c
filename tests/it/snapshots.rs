//! Rounded metrics of every manoeuvre on every solver.
