//! Nothing of its own: see its manifest.
