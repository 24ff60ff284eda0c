//! A saved world loaded into a fresh one continues bit-identically, and saving has no side effect.

use skidpad::core::State;

use super::draw::Draw;
use super::{NOT_APPLICABLE, Outcome, Violation, Worst};

pub fn check(draw: &Draw) -> Outcome {
    let (mut first, mut second) = (draw.world(), draw.world());
    let half = draw.steps() / 2;
    for k in 0..half {
        first.step(&draw.controls(k));
    }
    // Rapier's worlds return an error while bodywork is in contact.
    let Ok(bytes) = first.save() else { return NOT_APPLICABLE };
    if let Err(error) = second.load(&bytes) {
        return Err(Violation(format!("does not load what it saved: {error}")));
    }
    let frames = [&first, &second].map(|world| world.frame(0));
    let mut worst = Worst::default();
    worst.require(frames[0].wheels == frames[1].wheels, || "telemetry of wheels differs after loading".into())?;
    for k in half..draw.steps() {
        first.step(&draw.controls(k));
        second.step(&draw.controls(k));
    }
    let [first, second] =
        [first, second].map(|world| (0..draw.models.len()).map(|car| world.state(car).clone()).collect::<Vec<State>>());
    let straight = draw.run().last;
    worst.require(first == second, || "goes on otherwise after loading".into())?;
    worst.require(first == straight, || "saving changes the drive".into())?;
    worst.found()
}
