//! Ground of a draw, given by numbers that relations can rotate and mirror.

use std::sync::Arc;

use skidpad::core::{DVec3, HeightField, Scene};

use crate::step::random::Random;

/// Plane that rises along +x, or waves in one direction.
#[derive(Clone, Copy, Debug)]
pub struct GroundDraw {
    /// Angle of the slope (rad).
    pub slope: f32,
    /// Factor on tyre friction (–).
    pub grip: f32,
    /// Gravitational acceleration (m/s²).
    pub gravity: f32,
    pub waves: Option<Waves>,
}

/// Waves of the ground with heights `a (1 − cos 2π s / l)`, s the distance in one direction.
#[derive(Clone, Copy, Debug)]
pub struct Waves {
    /// Amplitude a (m).
    pub height: f32,
    /// Wavelength l (m).
    pub length: f32,
    /// Direction of the waves (rad), counter-clockwise from +x.
    pub direction: f32,
}

/// Half the side length of a height field (m), and the spacing of its grid lines (m).
const REACH: f64 = 100.0;
const SPACING: f64 = 1.0;

impl GroundDraw {
    pub fn draw(random: &mut Random) -> Self {
        let waves = random.chance(0.25).then(|| {
            let length = random.scaled(8.0, 40.0);
            // The slope of the waves is below 1 in 12.
            Waves { height: length * random.between(0.0, 0.013), length, direction: random.between(-3.2, 3.2) }
        });
        let slope = if waves.is_none() && random.chance(0.4) { random.between(-0.25, 0.25) } else { 0.0 };
        let grip = if random.chance(0.5) { 1.0 } else { random.scaled(0.1, 1.3) };
        let gravity = if random.chance(0.9) { 9.81 } else { random.scaled(1.6, 25.0) };
        Self { slope, grip, gravity, waves }
    }

    /// Returns the ground with the waves aligned with the nearest grid direction, for which the triangles of the
    /// field are mirrored exactly.
    pub fn squared(self) -> Self {
        let quarter = std::f32::consts::FRAC_PI_2;
        let square = |waves: Waves| Waves { direction: quarter * (waves.direction / quarter).round(), ..waves };
        Self { waves: self.waves.map(square), ..self }
    }

    pub fn scene(&self) -> Scene {
        let Self { slope, grip, gravity, waves } = *self;
        let scene = Scene { slope, grip, gravity, ..Scene::flat() };
        let Some(waves) = waves else { return scene };
        Scene { has_plane: false, height_fields: vec![Arc::new(waves.field(grip))], ..scene }
    }
}

impl Waves {
    fn field(&self, grip: f32) -> HeightField {
        let (sin, cos) = f64::from(self.direction).sin_cos();
        let (height, number) = (f64::from(self.height), std::f64::consts::TAU / f64::from(self.length));
        let count = (2.0 * REACH / SPACING) as usize + 1;
        let place = |k: usize| k as f64 * SPACING - REACH;
        let at = |k: usize| height * (1.0 - (number * (place(k % count) * cos + place(k / count) * sin)).cos());
        let heights = (0..count * count).map(|k| at(k) as f32).collect();
        let origin = DVec3::new(-REACH, -REACH, 0.0);
        HeightField::new(origin, [SPACING as f32; 2], [count; 2], heights, true, grip).expect("sound")
    }
}
