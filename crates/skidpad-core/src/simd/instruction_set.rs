//! Selection of the instructions of a step: those of every processor of the target, or the widest of this processor. Results have the same
//! bits: compilers do not fuse multiplication and addition unless told to, so only the encoding of operations differs.

/// Runs `part` of a step and returns its result. `part` is compiled to the widest instructions of this processor:
/// AVX-512, else AVX2, else those of the target (always on processors other than x86). Functions that are not inlined
/// into `part` use the instructions of the target.
#[cfg(feature = "instruction_sets")]
#[inline(always)]
pub fn dispatch_simd<R>(part: impl FnOnce() -> R) -> R {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        let level = fearless_simd::Level::new();
        // `sets_allowed`: 0 allows only the target's own instructions, 1 also AVX2, 2 also AVX-512.
        if let Some(set) = level.as_avx512().filter(|_| sets_allowed() > 1) {
            return fearless_simd::Simd::vectorize(set, part);
        }
        if let Some(set) = level.as_avx2().filter(|_| sets_allowed() > 0) {
            return fearless_simd::Simd::vectorize(set, part);
        }
    }
    part()
}

/// Runs `part` of a step with the instructions of the target.
#[cfg(not(feature = "instruction_sets"))]
#[inline(always)]
pub fn dispatch_simd<R>(part: impl FnOnce() -> R) -> R {
    part()
}

/// Returns the number of instruction sets besides the target's own that a step may use: all, unless a test sets fewer.
#[cfg(all(feature = "instruction_sets", not(test)))]
#[inline(always)]
fn sets_allowed() -> usize {
    usize::MAX
}

#[cfg(all(feature = "instruction_sets", test))]
use tests::sets_allowed;

#[cfg(feature = "instruction_sets")]
#[cfg(test)]
mod tests {
    use core::cell::Cell;
    use std::sync::Arc;

    use crate::model::{Model, plain::plain_car};
    use crate::state::Placement;
    use crate::vehicle::CHASSIS_AT_ORIGIN;
    use crate::{Contact, Controls, DVec3, FrictionShape, Probe, Scene, SolverMode, State, Vec3, Vehicle};

    thread_local! {
        static ALLOWED_INSTRUCTION_SETS: Cell<usize> = const { Cell::new(usize::MAX) };
    }

    /// Returns the number of sets that the running test allows: 0 the target's own only, 1 up to AVX2, 2 up to AVX-512.
    pub fn sets_allowed() -> usize {
        ALLOWED_INSTRUCTION_SETS.get()
    }

    /// Returns the bits of a car's impulses on its chassis while it slides and yaws over a plane, steered and braked.
    fn pushes(coupling: SolverMode, allowed: usize) -> Vec<u32> {
        const DT_S: f32 = 1.0 / 120.0;
        ALLOWED_INSTRUCTION_SETS.set(allowed);
        let model = Arc::new(Model::new(plain_car()).expect("valid"));
        let mut vehicle = Vehicle::new(model.clone(), State::at_rest(&model, &Scene::flat(), &Placement::default()));
        let mut body = CHASSIS_AT_ORIGIN;
        (body.velocity, body.angular) = (Vec3::new(14.0, 2.0, -0.3), Vec3::new(0.1, -0.05, 0.6));
        let controls = Controls { steer: 0.3, brake: 0.4, ..Controls::default() };
        let nowhere =
            Probe { car: 0, position: DVec3::ZERO, offset: Vec3::ZERO, direction: Vec3::NEG_Z, length: 0.0, rim: None };
        let mut bits = Vec::new();
        for _ in 0..60 {
            (body.free_velocity, body.free_angular) = (body.velocity + Vec3::new(0.0, 0.0, -9.81 * DT_S), body.angular);
            let mut asked = [nowhere; 4];
            vehicle.probes(0, &body, DT_S, &mut asked);
            let met = asked.map(|probe| {
                let distance = probe.offset.z + 0.5 + body.position.z as f32;
                let contact = Contact { distance, normal: Vec3::Z, grip: 1.0, point: None, ground: None };
                (distance <= probe.length).then_some(contact)
            });
            let (push, _) = vehicle.solve(&body, &met, &[], &controls, coupling, DT_S);
            bits.extend([push.impulse, push.angular_impulse].iter().flat_map(|of| of.to_array()).map(f32::to_bits));
            body.velocity = body.free_velocity + push.impulse / model.mass();
            body.angular = body.free_angular + *model.inverse_inertia() * push.angular_impulse;
            body.position += (body.velocity * DT_S).as_dvec3();
            vehicle.finish(&body, DT_S);
        }
        ALLOWED_INSTRUCTION_SETS.set(usize::MAX);
        bits
    }

    /// Checks the bits of every instruction set; on a processor without a set, that part compares the target's own.
    #[test]
    fn every_set_gives_the_same_bits() {
        for coupling in [SolverMode::SinglePass, SolverMode::converged(FrictionShape::Cone, false)] {
            let of_target = pushes(coupling, 0);
            for allowed in [1, 2] {
                assert!(pushes(coupling, allowed) == of_target, "{coupling:?} with {allowed} sets");
            }
        }
    }
}
