//! How do two players drive together over a bad network? Two Bevy apps without a window, two processes, one car each. Inputs travel
//! over loopback, late by 20 to 60 ms, and one packet in five is lost. Each side drives on with the last inputs it knows; when the
//! true ones come it goes back to the states of that tick and takes the ticks again. In the end both have the same bits.
//!
//! What a tick depends on beside `State`: the driver's shaping ([`CarDriver`]) and the number of the tick, if boxes move by themselves.
//! Drawn poses and events follow from states and need no saving.

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
/// Of a tick on the wall: an hour of play need not take an hour.
const REAL_TICK_DURATION: Duration = Duration::from_millis(2);
/// Nobody drives further ahead of what is known of the other.
const MAX_TICKS_AHEAD: usize = 90;
/// Inputs of as many ticks are in every packet, so that a lost one costs nothing.
const INPUTS_PER_PACKET: usize = 200;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Tick;

/// A small generator, so that every run of a side does the same.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, faces: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % faces
    }
}

/// What player `player` presses in tick `tick`: accelerate, brake, left, right, handbrake as bits.
fn keys(player: usize, tick: usize) -> u8 {
    let mut dice = Dice((tick / 45 * 2 + player) as u64);
    dice.roll(2);
    [0b00001, 0b00101, 0b01001, 0b00010, 0b00000, 0b10101][dice.roll(6) as usize]
}

fn inputs(keys: u8) -> CarInputs {
    let held = |bit: u8| f32::from(keys >> bit & 1);
    CarInputs { throttle: held(0), brake: held(1), steer: held(2) - held(3), handbrake: held(4) }
}

/// One side: its app, and what every tick began with and was driven with.
struct NetPlayer {
    app: App,
    cars: [Entity; 2],
    past: Vec<([(State, CarDriver); 2], [u8; 2])>,
    replayed: usize,
}

impl NetPlayer {
    fn new() -> Outcome<Self> {
        let mut app = App::new();
        app.init_schedule(Tick);
        app.add_plugins((TimePlugin, CarPlugin::in_schedule(Tick)))
            .add_plugins(BuiltinWorldPlugin { solver: skidpad_impulse::BACKEND_INFO, scene: Scene::flat() });
        let model = skidpad_spec::load("corvette_c5")?.model;
        let cars =
            [-3.0, 3.0].map(|x| app.world_mut().spawn((Car(model.clone()), Transform::from_xyz(x, 0.0, 0.0))).id());
        // Both enter; no time passes.
        app.world_mut().run_schedule(Tick);
        Ok(Self { app, cars, past: Vec::new(), replayed: 0 })
    }

    fn now(&self) -> [(State, CarDriver); 2] {
        let world = self.app.world();
        self.cars.map(|car| {
            let motion = world.get::<CarMotion>(car).expect("it has entered");
            (motion.state().clone(), world.get::<CarDriver>(car).expect("cars have one").clone())
        })
    }

    fn tick(&mut self, keys: [u8; 2]) {
        self.past.push((self.now(), keys));
        let world = self.app.world_mut();
        for (car, keys) in self.cars.iter().zip(keys) {
            world.entity_mut(*car).insert(inputs(keys));
        }
        let mut time = Time::<()>::default();
        time.advance_by(TICK_DURATION);
        world.insert_resource(time);
        world.run_schedule(Tick);
    }

    /// Back to the start of tick `first`, and on from there with what is known now.
    fn replay(&mut self, first: usize, known: impl Fn(usize) -> [u8; 2]) {
        let last = self.past.len();
        let (states, _) = self.past[first].clone();
        self.past.truncate(first);
        for (car, (state, driver)) in self.cars.into_iter().zip(states) {
            self.app.world_mut().entity_mut(car).insert((Teleport::ToState(Box::new(state)), driver));
        }
        for tick in first..last {
            self.tick(known(tick));
        }
        self.replayed += last - first;
    }
}

/// A socket whose packets are late, out of order, and lost.
struct BadNetwork {
    socket: UdpSocket,
    in_flight: VecDeque<(Instant, Vec<u8>)>,
    dice: Dice,
}

impl BadNetwork {
    fn send(&mut self, packet: Vec<u8>) -> Outcome<()> {
        if self.dice.roll(5) > 0 {
            self.in_flight.push_back((Instant::now() + Duration::from_millis(20 + self.dice.roll(40)), packet));
        }
        for _ in 0..self.in_flight.len() {
            let Some((due, packet)) = self.in_flight.pop_front() else { break };
            if due <= Instant::now() {
                // A side that has all it needs no longer listens.
                let _ = self.socket.send(&packet);
            } else {
                self.in_flight.push_back((due, packet));
            }
        }
        Ok(())
    }
}

/// Drives as `player`; the bytes of both cars in the end, and how many ticks were taken again.
fn play(player: usize, socket: UdpSocket) -> Outcome<(String, usize)> {
    socket.set_nonblocking(true)?;
    let (mut side, other) = (NetPlayer::new()?, 1 - player);
    let mut network = BadNetwork { socket, in_flight: VecDeque::new(), dice: Dice(player as u64 + 7) };
    // Inputs of the other that are known without a gap.
    let mut heard: Vec<u8> = Vec::new();
    let start = Instant::now();
    let mut done = None;
    while done.is_none_or(|done: Instant| done.elapsed() < Duration::from_millis(400)) {
        if start.elapsed() > Duration::from_secs(60) {
            return Err("the other side is silent".into());
        }
        let mut packet = [0; 4 + INPUTS_PER_PACKET];
        while let Ok(length) = network.socket.recv(&mut packet) {
            let first = u32::from_le_bytes(packet[..4].try_into()?) as usize;
            let new = packet[4..length].iter().enumerate().filter(|(at, _)| first + at >= heard.len());
            if first <= heard.len() {
                heard.extend(new.map(|(_, keys)| *keys).collect::<Vec<u8>>());
            }
        }
        // The last that is known goes on until something else is.
        let known = |tick: usize| {
            let mut both = [keys(player, tick); 2];
            both[other] = heard.get(tick).or(heard.last()).copied().unwrap_or(0);
            both
        };
        let wrong = (0..side.past.len().min(heard.len())).find(|tick| side.past[*tick].1 != known(*tick));
        if let Some(first) = wrong {
            side.replay(first, known);
        }
        let now = side.past.len();
        if now < TICK_COUNT && now < heard.len() + MAX_TICKS_AHEAD {
            side.tick(known(now));
        }
        if done.is_none() && now == TICK_COUNT && heard.len() >= TICK_COUNT {
            done = Some(Instant::now());
        }
        let (told, first) = (side.past.len(), side.past.len().saturating_sub(INPUTS_PER_PACKET));
        let mut packet = (first as u32).to_le_bytes().to_vec();
        packet.extend((first..told).map(|tick| keys(player, tick)));
        network.send(packet)?;
        std::thread::sleep(REAL_TICK_DURATION);
    }
    let bytes: Vec<u8> = side.now().iter().flat_map(|(state, _)| state.to_bytes()).collect();
    Ok((bytes.iter().map(|byte| format!("{byte:02x}")).collect(), side.replayed))
}

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
    let told = lines.next().ok_or("the guest did not end")??;
    guest.wait()?;
    let (there, theirs) = told.split_once(' ').ok_or("the guest told nothing")?;
    println!(
        "{TICK_COUNT} ticks: the host took {replayed} again, the guest {there}; {} bytes of state",
        bytes.len() / 2
    );
    assert_eq!(bytes, theirs, "both sides end with the same bits");
    println!("both ended with the same bits");
    Ok(())
}
