//! Every vehicle that ships.

use skidpad_spec::{Loaded, load, shipped};

fn every() -> impl Iterator<Item = (&'static str, Loaded)> {
    shipped::names().map(|name| match load(name) {
        Ok(loaded) => (name, loaded),
        Err(skidpad_spec::LoadError::Faults(faults)) => panic!("{}", faults.render()),
        Err(error) => panic!("{name}: {error}"),
    })
}

#[test]
fn every_shipped_vehicle_is_without_fault() {
    assert_eq!(every().count(), 5);
}
