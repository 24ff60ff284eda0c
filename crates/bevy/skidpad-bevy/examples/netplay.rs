//! Drives two players together over a bad network: two Bevy apps without a window, two processes, one car each. Inputs
//! travel over loopback with a delay of 20 to 60 ms, and one packet in five is lost. Each side simulates with the last
//! inputs that it has received. When different inputs arrive, it restores the states of their tick and simulates from
//! there again. In the end both sides have the same bits.
//!
//! A tick depends on `State`, on the driver's shaping ([`CarDriver`]) and on the number of the tick, if boxes move by
//! themselves. Drawn poses and events follow from states and need no saving.

use std::collections::VecDeque;
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_time::{TimePlugin, prelude::*};
use bevy_transform::prelude::*;
use skidpad_bevy::{BuiltinWorldPlugin, Car, CarDriver, CarInputs, CarMotion, CarPlugin, Teleport};
use skidpad_core::{Scene, State};

const TICK_COUNT: usize = 900;
const TICK_DURATION: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// Real time between two ticks, shorter than [`TICK_DURATION`] so that the example ends early.
const REAL_TICK_DURATION: Duration = Duration::from_millis(2);
/// Maximum number of ticks that a player simulates beyond the last received input.
const MAX_TICKS_AHEAD: usize = 90;
/// Number of ticks whose inputs every packet contains, so that a lost packet is repaired by the next one.
const INPUTS_PER_PACKET: usize = 200;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Tick;

/// Linear congruential generator with its state, so that runs are repeatable.
struct Dice(u64);

impl Dice {
    /// Advances the generator and returns a number from 0 to `faces` − 1.
    fn roll(&mut self, faces: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % faces
    }
}

/// Returns the keys of `player` in `tick` as bits: accelerate, brake, left, right, handbrake. They change every 45
/// ticks.
fn keys(player: usize, tick: usize) -> u8 {
    let mut dice = Dice((tick / 45 * 2 + player) as u64);
    dice.roll(2);
    [0b00001, 0b00101, 0b01001, 0b00010, 0b00000, 0b10101][dice.roll(6) as usize]
}

/// Converts the bits of [`keys`] to inputs of 0 or 1. Left is positive steering; left and right together cancel.
fn inputs(keys: u8) -> CarInputs {
    let bit_value = |bit: u8| f32::from(keys >> bit & 1);
    CarInputs {
        throttle: bit_value(0),
        brake: bit_value(1),
        steer: bit_value(2) - bit_value(3),
        handbrake: bit_value(4),
    }
}

/// Player with an app that simulates both cars.
struct NetPlayer {
    app: App,
    cars: [Entity; 2],
    /// States and drivers at the start of each tick, and the keys of the tick.
    history: Vec<([(State, CarDriver); 2], [u8; 2])>,
    /// Number of ticks that were simulated again.
    replayed_ticks: usize,
}

impl NetPlayer {
    /// Creates an app with both cars at rest on flat ground, 6 m apart, and an empty history.
    fn new() -> Outcome<Self> {
        let mut app = App::new();
        app.init_schedule(Tick);
        app.add_plugins((TimePlugin, CarPlugin::in_schedule(Tick)))
            .add_plugins(BuiltinWorldPlugin { solver: skidpad_impulse::BACKEND_INFO, scene: Scene::flat() });
        let model = skidpad_spec::load("corvette_c5")?.model;
        let cars =
            [-3.0, 3.0].map(|x| app.world_mut().spawn((Car(model.clone()), Transform::from_xyz(x, 0.0, 0.0))).id());
        // Inserts both cars into the world; no time passes.
        app.world_mut().run_schedule(Tick);
        Ok(Self { app, cars, history: Vec::new(), replayed_ticks: 0 })
    }

    /// Returns state and driver of both cars after the last tick.
    fn states_and_drivers(&self) -> [(State, CarDriver); 2] {
        let world = self.app.world();
        self.cars.map(|car| {
            let motion = world.get::<CarMotion>(car).expect("it has entered");
            (motion.state().clone(), world.get::<CarDriver>(car).expect("cars have one").clone())
        })
    }

    /// Appends states, drivers and `keys` to the history, sets the inputs of both cars, and simulates one tick of
    /// [`TICK_DURATION`].
    fn tick(&mut self, keys: [u8; 2]) {
        self.history.push((self.states_and_drivers(), keys));
        let world = self.app.world_mut();
        for (car, keys) in self.cars.iter().zip(keys) {
            world.entity_mut(*car).insert(inputs(keys));
        }
        let mut time = Time::<()>::default();
        time.advance_by(TICK_DURATION);
        world.insert_resource(time);
        world.run_schedule(Tick);
    }

    /// Restores the start of tick `first` and repeats all ticks from there with the keys that `keys_of_tick` returns.
    /// The history from `first` on is replaced, and the number of repeated ticks is added to `replayed_ticks`.
    fn replay(&mut self, first: usize, keys_of_tick: impl Fn(usize) -> [u8; 2]) {
        let last = self.history.len();
        let (states, _) = self.history[first].clone();
        self.history.truncate(first);
        for (car, (state, driver)) in self.cars.into_iter().zip(states) {
            self.app.world_mut().entity_mut(car).insert((Teleport::ToState(Box::new(state)), driver));
        }
        for tick in first..last {
            self.tick(keys_of_tick(tick));
        }
        self.replayed_ticks += last - first;
    }
}

/// Socket that delays packets by 20 to 60 ms, changes their order, and drops one in five.
struct BadNetwork {
    socket: UdpSocket,
    in_flight: VecDeque<(Instant, Vec<u8>)>,
    dice: Dice,
}

impl BadNetwork {
    /// Queues `packet` with a delay of 20 to 59 ms, or drops it with a probability of 1 / 5. Then sends every queued
    /// packet whose time has come; the others stay in the queue.
    fn send(&mut self, packet: Vec<u8>) -> Outcome<()> {
        if self.dice.roll(5) > 0 {
            self.in_flight.push_back((Instant::now() + Duration::from_millis(20 + self.dice.roll(40)), packet));
        }
        for _ in 0..self.in_flight.len() {
            let Some((delivery_time, packet)) = self.in_flight.pop_front() else { break };
            if delivery_time <= Instant::now() {
                // The other player may have finished and closed its socket.
                let _ = self.socket.send(&packet);
            } else {
                self.in_flight.push_back((delivery_time, packet));
            }
        }
        Ok(())
    }
}

/// Drives as `player`. Returns the final states of both cars as hexadecimal text, and the number of repeated ticks.
/// Each pass of the loop receives packets, repeats the ticks that were simulated with wrong keys of the other player,
/// simulates one more tick unless it is too far ahead, and sends the last keys. Ends 400 ms after all keys are received
/// and all ticks simulated, so that the other side receives the last packets. Returns an error after 60 s.
fn play(player: usize, socket: UdpSocket) -> Outcome<(String, usize)> {
    socket.set_nonblocking(true)?;
    let (mut local_player, other_player) = (NetPlayer::new()?, 1 - player);
    let mut network = BadNetwork { socket, in_flight: VecDeque::new(), dice: Dice(player as u64 + 7) };
    // Keys of the other player from tick 0 on, without a gap.
    let mut received_keys: Vec<u8> = Vec::new();
    let start = Instant::now();
    let mut finish_time = None;
    while finish_time.is_none_or(|finish_time: Instant| finish_time.elapsed() < Duration::from_millis(400)) {
        if start.elapsed() > Duration::from_secs(60) {
            return Err("the other side is silent".into());
        }
        let mut packet = [0; 4 + INPUTS_PER_PACKET];
        while let Ok(length) = network.socket.recv(&mut packet) {
            // A packet is the number of its first tick, then one byte of keys per tick.
            let first = u32::from_le_bytes(packet[..4].try_into()?) as usize;
            let new_keys =
                packet[4..length].iter().enumerate().filter(|(offset, _)| first + offset >= received_keys.len());
            // A packet behind a gap is dropped; a later one repeats the missing keys.
            if first <= received_keys.len() {
                received_keys.extend(new_keys.map(|(_, keys)| *keys).collect::<Vec<u8>>());
            }
        }
        // Keys of both players. The last received keys of the other player are assumed to continue.
        let keys_of_tick = |tick: usize| {
            let mut keys_of_both = [keys(player, tick); 2];
            keys_of_both[other_player] = received_keys.get(tick).or(received_keys.last()).copied().unwrap_or(0);
            keys_of_both
        };
        // First tick that was simulated with keys that have turned out wrong (field `.1` of the history).
        let mispredicted_tick = (0..local_player.history.len().min(received_keys.len()))
            .find(|tick| local_player.history[*tick].1 != keys_of_tick(*tick));
        if let Some(first) = mispredicted_tick {
            local_player.replay(first, keys_of_tick);
        }
        let tick_index = local_player.history.len();
        if tick_index < TICK_COUNT && tick_index < received_keys.len() + MAX_TICKS_AHEAD {
            local_player.tick(keys_of_tick(tick_index));
        }
        if finish_time.is_none() && tick_index == TICK_COUNT && received_keys.len() >= TICK_COUNT {
            finish_time = Some(Instant::now());
        }
        let (sent_end, first) =
            (local_player.history.len(), local_player.history.len().saturating_sub(INPUTS_PER_PACKET));
        let mut packet = (first as u32).to_le_bytes().to_vec();
        packet.extend((first..sent_end).map(|tick| keys(player, tick)));
        network.send(packet)?;
        std::thread::sleep(REAL_TICK_DURATION);
    }
    let bytes: Vec<u8> = local_player.states_and_drivers().iter().flat_map(|(state, _)| state.to_bytes()).collect();
    Ok((bytes.iter().map(|byte| format!("{byte:02x}")).collect(), local_player.replayed_ticks))
}

/// Runs the host without an argument: starts a second process as the guest, drives as player 0, and checks that both
/// sides ended with equal bits. With the address of the host as argument, runs the guest: prints its own address,
/// drives as player 1, and prints the number of repeated ticks and the final states.
fn main() -> Outcome<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    if let Some(host) = std::env::args().nth(1) {
        socket.connect(&host)?;
        println!("{}", socket.local_addr()?);
        let (bytes, replayed) = play(1, socket)?;
        println!("{replayed} {bytes}");
        return Ok(());
    }
    let mut guest =
        Command::new(std::env::current_exe()?).arg(socket.local_addr()?.to_string()).stdout(Stdio::piped()).spawn()?;
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(guest.stdout.take().ok_or("no pipe")?));
    socket.connect(lines.next().ok_or("the guest did not start")??)?;
    let (bytes, replayed) = play(0, socket)?;
    let guest_line = lines.next().ok_or("the guest did not end")??;
    guest.wait()?;
    let (guest_replayed, guest_bytes) = guest_line.split_once(' ').ok_or("the guest told nothing")?;
    println!(
        "{TICK_COUNT} ticks: the host took {replayed} again, the guest {guest_replayed}; {} bytes of state",
        bytes.len() / 2
    );
    assert_eq!(bytes, guest_bytes, "both sides end with the same bits");
    println!("both ended with the same bits");
    Ok(())
}
