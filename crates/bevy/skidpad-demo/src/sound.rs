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

#[derive(Asset, TypePath, Clone, Debug, Resource)]
struct Engine(SoundInputs);

/// Sample generator with one channel.
struct Synthesiser {
    heard: SoundInputs,
    /// Smoothed engine speed (rev/s), load and skid intensity at the current sample.
    smoothed: [f32; 3],
    /// Position in the four-stroke cycle of two revolutions, in [0, 1).
    phase: f32,
    noise: u32,
    /// Last two outputs of the two-pole resonance filter of the squeal.
    squeal: [f32; 2],
}

pub fn plugin(app: &mut App) {
    let engine = Engine(SoundInputs::default());
    app.add_audio_source::<Engine>()
        .insert_resource(engine)
        .add_systems(Startup, play)
        .add_systems(Update, update_sound_inputs);
}

fn play(mut commands: Commands, engine: Res<Engine>, mut sounds: ResMut<Assets<Engine>>) {
    commands.spawn(AudioPlayer(sounds.add(engine.clone())));
}

fn update_sound_inputs(
    engine: Res<Engine>,
    time: Res<Time<Virtual>>,
    cars: Query<(Entity, &CarSignals), With<PlayerCar>>,
    wheels: Query<(&WheelSignals, &ChildOf), With<Wheel>>,
) {
    let Ok((car, signals)) = cars.single() else { return };
    let skids = wheels.iter().filter(|(_, child)| child.parent() == car).map(|(wheel, _)| wheel.skid_intensity);
    let loudest = skids.fold(0.0, f32::max);
    let runs = if time.is_paused() { 0.0 } else { 1.0 };
    let now = [signals.rpm / 60.0 * runs, signals.load.max(0.0) * (1.0 - 0.7 * signals.limited), loudest * runs];
    for (to, value) in engine.0.0.iter().zip(now) {
        to.store(value.to_bits(), Relaxed);
    }
}

impl Iterator for Synthesiser {
    type Item = f32;

    fn next(&mut self) -> Option<f32> {
        let follow = 1.0 / (SMOOTHING_TIME_S * SAMPLE_RATE_HZ as f32);
        for (now, heard) in self.smoothed.iter_mut().zip(self.heard.0.iter()) {
            *now += (f32::from_bits(heard.load(Relaxed)) - *now) * follow;
        }
        let [speed, load, skid] = self.smoothed;
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
        let engine: f32 = orders.iter().map(|(order, loud)| loud * (TAU * order * 2.0 * self.phase).sin()).sum();
        let runs = (speed / 5.0).min(1.0);
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 17;
        self.noise ^= self.noise << 5;
        let white = self.noise as f32 / u32::MAX as f32 - 0.5;
        // Resonance filter at 900 Hz.
        let [one, two] = self.squeal;
        let next = white * 0.1 + 1.977 * one - 0.9935 * two;
        self.squeal = [next, one];
        Some(0.06 * runs * (0.35 + 0.65 * load) * engine + 0.05 * skid * next)
    }
}

impl Source for Synthesiser {
    fn current_span_len(&self) -> Option<usize> {
        None
    }

    fn channels(&self) -> ChannelCount {
        NonZeroU16::MIN
    }

    fn sample_rate(&self) -> SampleRate {
        NonZeroU32::MIN.saturating_add(SAMPLE_RATE_HZ - 1)
    }

    fn total_duration(&self) -> Option<Duration> {
        None
    }
}

impl Decodable for Engine {
    type Decoder = Synthesiser;

    fn decoder(&self) -> Synthesiser {
        Synthesiser { heard: self.0.clone(), smoothed: [0.0; 3], phase: 0.0, noise: 0x9E37_79B9, squeal: [0.0; 2] }
    }
}
