//! Tests with two boxes in free space, compared with closed forms.

use super::*;
use skidpad_core::{Mat3, Quat, Scene, model::Hull};

use crate::World;

const RATES_HZ: [f32; 4] = [20.0, 60.0, 240.0, 1000.0];

/// Returns a world without ground.
fn space() -> World {
    World::new(Scene { has_plane: false, ..Scene::flat() })
}

/// Returns a body of `mass` kg with the size of a car, 4.4 by 1.8 by 1.2 m, times `scale`. The middle of its hull is
/// `above` m above its centre of mass.
fn body(mass: f32, scale: f32, above: f32) -> Chassis {
    let hull = Hull { centre: Vec3::Z * above, half_extents: Vec3::new(2.2, 0.9, 0.6) * scale };
    Chassis::rigid(mass, Mat3::from_diagonal(Vec3::new(0.3, 1.4, 1.5) * mass * scale * scale), hull)
}

/// Returns `chassis` at `position` (world, m) with `rotation` and `twist`: velocity (m/s) and angular velocity (rad/s).
fn at(mut chassis: Chassis, position: DVec3, rotation: Quat, twist: [Vec3; 2]) -> Chassis {
    chassis.set_pose_and_twist(position, rotation, twist);
    chassis
}

/// Returns the sums over all cars: momentum (N s), angular momentum about the origin (N m s), and kinetic energy (J).
fn sums(world: &mut World) -> (DVec3, DVec3, f64) {
    let mut sums = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for chassis in world.chassis_mut() {
        let momentum = chassis.velocity.as_dvec3() / f64::from(chassis.inverse_mass);
        let spin = chassis.angular_momentum();
        sums.0 += momentum;
        sums.1 += chassis.position.cross(momentum) + spin.as_dvec3();
        sums.2 += 0.5 * (momentum.dot(chassis.velocity.as_dvec3()) + f64::from(spin.dot(chassis.angular_velocity)));
    }
    sums
}

/// Advances `world` by `seconds` s, rounded up to whole steps of 1/`hz` s, without gravity.
fn run(world: &mut World, seconds: f32, hz: f32) {
    (0..(seconds * hz).ceil() as usize).for_each(|_| world.advance(1.0 / hz));
}

/// Returns a world without ground in which `first`, at the origin, runs along x at `speed` m/s into the rear of
/// `second`, which moves at `other` m/s. The gap between the hulls is 0.77 m.
fn head_on(first: Chassis, second: Chassis, [speed, other]: [f32; 2]) -> World {
    let mut world = space();
    let gap = f64::from(first.hull.half_extents.x + second.hull.half_extents.x) + 0.77;
    world.append_chassis(at(first, DVec3::ZERO, Quat::IDENTITY, [Vec3::X * speed, Vec3::ZERO]));
    world.append_chassis(at(second, DVec3::X * gap, Quat::IDENTITY, [Vec3::X * other, Vec3::ZERO]));
    world
}

/// Both bodies end, without restitution, with the velocity of their common centre of mass, without rotation, and with
/// their hulls in contact (from 0.1 mm of overlap to 3 mm of gap). Momentum is conserved and energy never rises in any
/// step. Covers mass ratios from 1 to 50 at all rates.
#[test]
fn bodies_that_meet_end_with_their_common_velocity() {
    for (masses, speeds) in [
        ([1500.0, 1500.0], [30.0, -30.0]),
        ([1500.0, 1500.0], [20.0, 0.0]),
        ([1000.0, 2500.0], [15.0, -3.0]),
        ([160.0, 8000.0], [30.0, -20.0]),
        ([8000.0, 160.0], [20.0, 0.0]),
    ] {
        for hz in RATES_HZ {
            let mut world = head_on(body(masses[0], 1.0, 0.0), body(masses[1], 1.0, 0.0), speeds);
            let (momentum, _, start) = sums(&mut world);
            let mut energy = start;
            // Velocity of the common centre of mass, m/s.
            let expected = momentum.x / f64::from(masses[0] + masses[1]);
            for step in 0..(0.5 * hz) as usize {
                world.advance(1.0 / hz);
                let (now, _, left) = sums(&mut world);
                let what = format!("{masses:?} kg at {speeds:?} m/s, {hz} Hz, step {step}");
                let scale = f64::from(masses[0] * speeds[0].abs() + masses[1] * speeds[1].abs());
                assert!((now - momentum).length() < 1e-5 * scale, "{what}: {now} N s of {momentum}");
                // Tolerance for the last digits of f32.
                assert!(left <= energy * (1.0 + 1e-6) + 1e-9 * start, "{what}: {left} J of {energy}");
                energy = left;
            }
            for chassis in world.chassis_mut() {
                let off = chassis.velocity.as_dvec3() - DVec3::X * expected;
                let what = format!("{masses:?} kg at {speeds:?} m/s, {hz} Hz: {} m/s", chassis.velocity);
                assert!(off.length() < 1e-4 && chassis.angular_velocity.length() < 1e-4, "{what}, not {expected}");
            }
            let apart = world.chassis_mut()[1].position.x - world.chassis_mut()[0].position.x - 4.4;
            assert!((-1e-4..3e-3).contains(&apart), "{masses:?} kg at {speeds:?} m/s, {hz} Hz: {apart} m apart");
        }
    }
}

/// Generator of repeatable numbers in ±1.
struct Random(u64);

impl Random {
    /// Returns the next number of a linear congruential generator, in [−1, 1).
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// Returns a vector of three numbers.
    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}

/// Returns two bodies of random size, mass (220 to 4500 kg), attitude and spin (up to 3 rad/s per axis), about 4 m to
/// the left and right of the origin along x, that move towards each other at about 15 m/s each.
fn thrown(random: &mut Random) -> [Chassis; 2] {
    [-1.0, 1.0].map(|side| {
        let mass = 1000.0 * (1.5 * random.next()).exp();
        let body = body(mass, 1.0 + 0.5 * random.next(), 0.3 * random.next());
        let rotation = Quat::from_axis_angle(random.vector().normalize(), 3.1 * random.next());
        let away = Vec3::new(side * 4.0, 0.0, 0.0) + random.vector();
        let velocity = Vec3::X * (-side * 15.0) + 10.0 * random.vector();
        at(body, away.as_dvec3(), rotation, [velocity, 3.0 * random.vector()])
    })
}

/// Momentum and angular momentum are conserved in each step, and energy does not rise in a contact, for 400 random
/// pairs of bodies at each rate. More than 400 steps per rate must lose over 1 % of the energy, so that the pairs
/// really collide.
#[test]
fn blows_keep_momentum_and_angular_momentum() {
    for hz in RATES_HZ {
        let (mut blows, mut worst) = (0, [0.0f64; 3]);
        for seed in 1..=400u64 {
            let mut world = space();
            thrown(&mut Random(seed)).into_iter().for_each(|body| world.append_chassis(body));
            let scale = world.chassis_mut().iter().map(|body| body.velocity.length() / body.inverse_mass).sum::<f32>();
            let (scale, mut last) = (f64::from(scale), sums(&mut world));
            for _ in 0..hz as usize {
                let before = world.chassis_mut()[0].velocity;
                world.advance(1.0 / hz);
                let now = sums(&mut world);
                let touched = before != world.chassis_mut()[0].velocity;
                // Free rotation conserves energy to second order in the step only.
                let rise = if touched { now.2 / last.2 - 1.0 } else { 0.0 };
                // Errors of momentum and angular momentum over the sum of momenta, and relative rise of energy.
                let errors = [(now.0 - last.0).length() / scale, (now.1 - last.1).length() / scale, rise];
                (0..3).for_each(|k| worst[k] = worst[k].max(errors[k]));
                blows += usize::from(now.2 < 0.99 * last.2);
                last = now;
            }
        }
        assert!(blows > 400, "{blows} blows");
        // Angular momentum per momentum is a length, m. If the edges of two faces close one after the other, the error
        // is a share of the path of a step at 2 m/s, because the pose moves with one velocity throughout the step.
        assert!(worst[0] < 1e-5 && worst[1] < 2.0 / f64::from(hz) && worst[2] < 1e-3, "{hz} Hz: {worst:?}");
    }
}

/// Faces that meet all at once, off-centre and obliquely, conserve angular momentum within 0.1 mm of arm in every step
/// with a collision, and energy never rises, at any rate. The bodies must collide: energy is lost by the end.
#[test]
fn faces_that_meet_off_the_middle_keep_angular_momentum() {
    for hz in RATES_HZ {
        for (aside, slant) in [(0.0, 0.0), (0.9, 0.0), (-1.5, 0.0), (0.9, 3.0), (-1.2, -8.0)] {
            let mut world = space();
            world.append_chassis(at(body(1500.0, 1.0, 0.0), DVec3::ZERO, Quat::IDENTITY, [Vec3::X * 20.0, Vec3::ZERO]));
            let other = [Vec3::new(-10.0, slant, 0.0), Vec3::ZERO];
            world.append_chassis(at(body(1000.0, 1.0, 0.0), DVec3::new(5.5, aside, 0.1), Quat::IDENTITY, other));
            let mut last = sums(&mut world);
            for step in 0..(0.3 * hz) as usize {
                world.advance(1.0 / hz);
                let now = sums(&mut world);
                // Change of angular momentum over a momentum of 4e4 N s: a length, m.
                let lost = (now.1 - last.1).length() / 4e4;
                // The limit is 0.1 mm of arm; hulls touch at a distance of 1 mm.
                assert!(lost < 1e-4 || now.2 > 0.99 * last.2, "{aside} m, {slant} m/s, {hz} Hz, step {step}: {lost} m");
                assert!(now.2 <= last.2 * (1.0 + 1e-6), "{aside} m, {slant} m/s, {hz} Hz, step {step}: energy");
                last = now;
            }
            assert!(last.2 < 4e5, "{aside} m, {slant} m/s, {hz} Hz: they have met, {} J", last.2);
        }
    }
}

/// A side swipe causes friction of the normal impulse times the product of both coefficients, 0.5 each: the change of
/// velocity along the side is 0.25 of that across it, at every rate.
#[test]
fn a_side_swipe_rubs_by_the_friction_of_bodywork() {
    for hz in RATES_HZ {
        let mut world = space();
        world.append_chassis(at(body(1500.0, 1.0, 0.0), DVec3::ZERO, Quat::IDENTITY, [Vec3::X * 30.0, Vec3::ZERO]));
        let along = [Vec3::new(20.0, -2.0, 0.0), Vec3::ZERO];
        world.append_chassis(at(body(1500.0, 1.0, 0.0), DVec3::new(0.4, 2.1, 0.0), Quat::IDENTITY, along));
        run(&mut world, 0.3, hz);
        let change = world.chassis_mut()[0].velocity - Vec3::X * 30.0;
        let share = change.x / change.y;
        assert!(change.y < -0.3 && (share - 0.25).abs() < 1e-4, "{hz} Hz: {change} m/s, {share}");
    }
}

/// Bodies that start inside each other separate at less than 1.1 m/s, about the correction speed of overlaps, and
/// overlap by less than 1 mm after 3 s.
#[test]
fn overlaps_return_slowly() {
    for hz in RATES_HZ {
        for (along, aside) in [(3.9, 0.0), (4.2, 0.5), (0.3, 1.5), (0.0, 0.0)] {
            let mut world = space();
            world.append_chassis(at(body(1500.0, 1.0, 0.0), DVec3::ZERO, Quat::IDENTITY, [Vec3::ZERO; 2]));
            world.append_chassis(at(
                body(160.0, 1.0, 0.0),
                DVec3::new(along, aside, 0.0),
                Quat::IDENTITY,
                [Vec3::ZERO; 2],
            ));
            for _ in 0..(3.0 * hz) as usize {
                world.advance(1.0 / hz);
                let [first, second] = [0, 1].map(|car| world.chassis_mut()[car].velocity);
                assert!((second - first).length() < 1.1, "{along} m, {aside} m, {hz} Hz: {first}, {second}");
            }
            let mut manifold = ContactManifold::default();
            let mut apart = true;
            let [first, second] = [0, 1].map(|car| world.chassis_mut()[car].clone());
            Pair::new(&first, &second, 1e-3).find_contacts(1e-3, &mut manifold, |meeting| apart &= meeting.gap > -1e-3);
            assert!(apart, "{along} m, {aside} m, {hz} Hz: still inside each other");
        }
    }
}

/// Among four bodies in a row that run into a wall one after another, none enters the wall or its neighbour by 1 cm or
/// more in any step of 2 s, and all stop.
#[test]
fn a_body_between_a_wall_and_another_enters_neither() {
    let wall = skidpad_core::FixedBox::axis_aligned(DVec3::X * 10.0, Vec3::new(1.0, 8.0, 8.0));
    for hz in RATES_HZ {
        let mut world = World::new(Scene { has_plane: false, boxes: vec![wall], ..Scene::flat() });
        for (x, speed) in [(7.0, 0.0), (2.3, 5.0), (-8.0, 30.0), (-20.0, 60.0)] {
            world.append_chassis(at(
                body(1500.0, 1.0, 0.0),
                DVec3::X * x,
                Quat::IDENTITY,
                [Vec3::X * speed, Vec3::ZERO],
            ));
        }
        // Largest overlap of all steps, m. The face of the wall is at 9.5 m; a hull is 4.4 m long.
        let mut deepest = 0.0f64;
        for _ in 0..(2.0 * hz) as usize {
            world.advance(1.0 / hz);
            let places = [0, 1, 2, 3].map(|car| world.chassis_mut()[car].position.x);
            deepest = deepest.max(places[0] + 2.2 - 9.5);
            (1..4).for_each(|car| deepest = deepest.max(places[car] + 4.4 - places[car - 1]));
        }
        let fastest = world.chassis_mut().iter().map(|body| body.velocity.length()).fold(0.0, f32::max);
        // Impulses that pass from body to body are cut off after 64 passes.
        assert!(deepest < 0.01 && fastest < 0.01, "{hz} Hz: {deepest} m deep, {fastest} m/s");
    }
}

/// Every contact of two hulls within 0.3 s has contact points, and hulls that pass each other have none, for 20,000
/// random pairs. More than 5,000 of the pairs must touch.
#[test]
fn all_that_touches_has_points() {
    let (mut met, mut manifold) = (0, ContactManifold::default());
    for seed in 1..=20_000u64 {
        let [first, second] = thrown(&mut Random(seed));
        let mut points = 0;
        Pair::new(&first, &second, 0.3).find_contacts(0.3, &mut manifold, |_| points += 1);
        let touches = Pair::new(&first, &second, 0.3).touches(0.3);
        assert_eq!(touches, points > 0, "seed {seed}");
        met += usize::from(touches);
    }
    assert!(met > 5_000, "{met} of 20,000");
}

/// A body of 2 t that falls at 8 m/s on a crate of 20 or 10 kg on the ground stops there within 0.3 s. Neither enters
/// the other or the ground by more than 3 mm.
#[test]
fn a_heavy_body_stops_on_a_light_one() {
    for (mass, hz) in [20.0, 10.0].into_iter().flat_map(|mass| RATES_HZ.map(|hz| (mass, hz))) {
        let mut world = World::new(Scene::flat());
        world.append_chassis(at(body(mass, 0.2, 0.0), DVec3::Z * 0.12, Quat::IDENTITY, [Vec3::ZERO; 2]));
        let falls = [Vec3::Z * -8.0, Vec3::ZERO];
        world.append_chassis(at(body(2000.0, 1.0, 0.0), DVec3::Z * 0.94, Quat::IDENTITY, falls));
        run(&mut world, 0.3, hz);
        let [below, above] = [0, 1].map(|k| world.chassis_mut()[k].clone());
        let what =
            format!("{mass} kg at {hz} Hz: {} and {} m up, {} m/s", below.position, above.position, above.velocity);
        assert!((below.position.z - 0.12).abs() < 3e-3 && (above.position.z - 0.84).abs() < 3e-3, "{what}");
        assert!(below.velocity.length() < 0.02 && above.velocity.length() < 0.02, "{what}");
    }
}

/// The first response of a new contact point of a train includes the vehicle that is hitched to it.
#[test]
fn the_first_response_of_a_point_includes_the_hitch() {
    const DT_S: f32 = 1.0 / 60.0;
    let mut towing = at(body(1500.0, 1.0, 0.0), DVec3::ZERO, Quat::IDENTITY, [Vec3::ZERO; 2]);
    towing.hitch = Vec3::new(-2.5, 0.0, 0.0);
    let mut trailer = at(body(1500.0, 1.0, 0.0), DVec3::X * -5.0, Quat::IDENTITY, [Vec3::ZERO; 2]);
    trailer.coupler = Vec3::new(2.5, 0.0, 0.0);
    let mut chassis = [towing, trailer];
    let mut hitches = [HitchConstraint::new([1, 0])];
    let wall = HullPoint { arm: Vec3::X * 2.2, gap: 0.0, normal: -Vec3::X, friction: 0.5, velocity: Vec3::ZERO };
    let mut points = [ContactPoint::on_ground(&chassis[0], 0, &wall, 0, DT_S)];
    update_hitches(&mut hitches, &mut points, &mut chassis, DT_S);
    // A push along the train moves both vehicles.
    let found = points[0].normal_compliance;
    assert!((found * 3000.0 - 1.0).abs() < 1e-4, "{found} 1/kg");
    update_hitches(&mut hitches, &mut points, &mut chassis, DT_S);
    assert!((points[0].normal_compliance / found - 1.0).abs() < 1e-5, "{} after {found}", points[0].normal_compliance);
}
