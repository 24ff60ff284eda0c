//! Synthesised sound: the firing pulses of the engine with harmonics, and the noise of sliding tyres.

use bevy::audio::{AddAudioSource, ChannelCount, Decodable, SampleRate, Source};
use bevy::prelude::*;
use skidpad_bevy::{CarSignals, Wheel, WheelSignals};
use std::f32::consts::TAU;
use std::num::{NonZeroU16, NonZeroU32};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use crate::player_input::PlayerCar;

const SAMPLE_RATE_HZ: u32 = 44_100;

/// Firing pulses per revolution of a four-stroke engine with eight cylinders.
const PULSES_PER_REVOLUTION: f32 = 4.0;

/// Time constant with which the sound follows its inputs, s.
const SMOOTHING_TIME_S: f32 = 0.03;

/// Inputs of the sound as bits of `f32`: engine speed (rev/s), engine load (0 to 1), largest skid intensity (0 to 1).
#[derive(Clone, Debug, Default)]
struct SoundInputs(Arc<[AtomicU32; 3]>);

/// Audio source whose generator reads these inputs while it plays.
#[derive(Asset, TypePath, Clone, Debug, Resource)]
struct Engine(SoundInputs);

/// Sample generator with one channel.
struct Synthesiser {
    /// Inputs that the game writes, shared with [`Engine`].
    inputs: SoundInputs,
    /// Smoothed engine speed (rev/s), load and skid intensity at the current sample.
    smoothed: [f32; 3],
    /// Position in the four-stroke cycle of two revolutions, in [0, 1).
    phase: f32,
    /// State of the random numbers (xorshift), not 0.
    noise: u32,
    /// Last two outputs of the two-pole resonance filter of the squeal.
    squeal: [f32; 2],
}

/// Adds the sound of the driven car, which plays from the start on.
pub fn plugin(app: &mut App) {
    let engine = Engine(SoundInputs::default());
    app.add_audio_source::<Engine>()
        .insert_resource(engine)
        .add_systems(Startup, play_sound)
        .add_systems(Update, update_sound_inputs);
}

/// Starts the sound. The asset shares its inputs with the resource, so that later changes are heard.
fn play_sound(mut commands: Commands, engine: Res<Engine>, mut sounds: ResMut<Assets<Engine>>) {
    commands.spawn(AudioPlayer(sounds.add(engine.clone())));
}

/// Writes the inputs of the sound once a frame: engine speed (rev/s), engine load (0 to 1, reduced by up to 70 % by the
/// speed limiter) and the largest skid intensity of the wheels of the driven car. While the game is paused, engine
/// speed and skid intensity are 0. Does nothing without exactly one driven car.
fn update_sound_inputs(
    engine: Res<Engine>,
    time: Res<Time<Virtual>>,
    cars: Query<(Entity, &CarSignals), With<PlayerCar>>,
    wheels: Query<(&WheelSignals, &ChildOf), With<Wheel>>,
) {
    let Ok((car, signals)) = cars.single() else { return };
    let skid_intensities =
        wheels.iter().filter(|(_, child_of)| child_of.parent() == car).map(|(wheel, _)| wheel.skid_intensity);
    // Largest skid intensity.
    let max_skid_intensity = skid_intensities.fold(0.0, f32::max);
    // Factor that silences a paused game.
    let pause_factor = if time.is_paused() { 0.0 } else { 1.0 };
    // In the order of `SoundInputs`; rev/min / 60 = rev/s.
    let values = [
        signals.rpm / 60.0 * pause_factor,
        signals.load.max(0.0) * (1.0 - 0.7 * signals.limited),
        max_skid_intensity * pause_factor,
    ];
    for (input, value) in engine.0.0.iter().zip(values) {
        input.store(value.to_bits(), Relaxed);
    }
}

impl Iterator for Synthesiser {
    type Item = f32;

    /// Returns the next sample. The sound never ends.
    ///
    /// Filters the inputs by a first-order lag with [`SMOOTHING_TIME_S`]. The engine is a sum of sine waves of engine
    /// orders. The engine volume grows with the load and fades below 5 rev/s. The squeal is white noise through a
    /// two-pole resonance filter, with a volume proportional to the skid intensity.
    fn next(&mut self) -> Option<f32> {
        // Share of the difference to the input that one sample removes: Δt / T.
        let lag_fraction = 1.0 / (SMOOTHING_TIME_S * SAMPLE_RATE_HZ as f32);
        for (smoothed, input) in self.smoothed.iter_mut().zip(self.inputs.0.iter()) {
            *smoothed += (f32::from_bits(input.load(Relaxed)) - *smoothed) * lag_fraction;
        }
        let [speed, load, skid] = self.smoothed;
        // The cycle is two revolutions long.
        self.phase = (self.phase + 0.5 * speed / SAMPLE_RATE_HZ as f32).fract();
        // Pairs of engine order and amplitude. Low orders add roughness; harmonics of the firing order grow with the
        // load.
        let orders = [
            (0.5, 0.15),
            (1.0, 0.2),
            (PULSES_PER_REVOLUTION, 1.0),
            (2.0 * PULSES_PER_REVOLUTION, 0.6 * load),
            (3.0 * PULSES_PER_REVOLUTION, 0.4 * load),
        ];
        // An order is the number of periods per revolution, so 2 · order per cycle.
        let engine: f32 =
            orders.iter().map(|(order, amplitude)| amplitude * (TAU * order * 2.0 * self.phase).sin()).sum();
        // Factor that fades the engine out as it stops.
        let stop_fade = (speed / 5.0).min(1.0);
        // Xorshift generator; `white` is from −0.5 to 0.5.
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 17;
        self.noise ^= self.noise << 5;
        let white = self.noise as f32 / u32::MAX as f32 - 0.5;
        // Resonance filter at 900 Hz: y = 0.1 x + a y₁ − b y₂ with the last outputs y₁ and y₂. The poles have the
        // radius √b.
        let [y1, y2] = self.squeal;
        let squeal = white * 0.1 + 1.977 * y1 - 0.9935 * y2;
        self.squeal = [squeal, y1];
        // Volumes of engine and squeal. The engine is heard at 35 % without load.
        Some(0.06 * stop_fade * (0.35 + 0.65 * load) * engine + 0.05 * skid * squeal)
    }
}

impl Source for Synthesiser {
    fn current_span_len(&self) -> Option<usize> {
        None
    }

    fn channels(&self) -> ChannelCount {
        NonZeroU16::MIN
    }

    /// Returns [`SAMPLE_RATE_HZ`].
    fn sample_rate(&self) -> SampleRate {
        // The minimum is 1.
        NonZeroU32::MIN.saturating_add(SAMPLE_RATE_HZ - 1)
    }

    fn total_duration(&self) -> Option<Duration> {
        None
    }
}

impl Decodable for Engine {
    type Decoder = Synthesiser;

    /// Returns a generator that shares these inputs and starts silent.
    fn decoder(&self) -> Synthesiser {
        // The seed is any number but 0.
        Synthesiser { inputs: self.0.clone(), smoothed: [0.0; 3], phase: 0.0, noise: 0x9E37_79B9, squeal: [0.0; 2] }
    }
}
