//! Data of independent codes (see `data/README.md`).

use skidpad::core::Controls;

use crate::common::{Drive, Simplify, hold_speed, shipped, solvers};

struct Sample {
    time: f64,
    steer: f64,
    x: f64,
    y: f64,
    yaw_rate: f64,
}

fn samples(text: &str) -> Vec<Sample> {
    let row = |line: &str| {
        let values: Vec<f64> = line.split(',').map(|v| v.parse().expect("a number")).collect();
        Sample { time: values[0], steer: values[1], x: values[2], y: values[3], yaw_rate: values[4] }
    };
    text.lines().skip(1).map(row).collect()
}

fn steer_at(samples: &[Sample], time: f64) -> f32 {
    let next = samples.iter().position(|s| s.time > time).unwrap_or(samples.len() - 1).max(1);
    let (a, b) = (&samples[next - 1], &samples[next]);
    let share = ((time - a.time) / (b.time - a.time)).clamp(0.0, 1.0);
    (a.steer + (b.steer - a.steer) * share) as f32
}

/// CommonRoad's single-track 320i against ours on four wheels with springs: position within 1 % of the path.
#[test]
fn the_320i_follows_commonroads_single_track_model() {
    let cases = [
        (15.0, include_str!("data/commonroad_st_step_v15_d0.02.csv")),
        (20.0, include_str!("data/commonroad_st_sine_v20_d0.02_f0.5.csv")),
    ];
    let model = shipped("bmw_320i_commonroad").model();
    for (speed, text) in cases {
        let samples = samples(text);
        let end = samples[samples.len() - 1].time;
        for solver in solvers() {
            let mut car = Drive::rolling(&solver, &model, speed as f32, 1000.0);
            let frames = car.run(end, |f| Controls {
                steer: steer_at(&samples, f.t_s + 1e-3),
                gear: Some(0),
                wheels: hold_speed(f, &model, speed),
                ..Controls::default()
            });
            let path = speed * end;
            for sample in &samples {
                let frame = &frames[(sample.time * 1000.0).round() as usize];
                let off = (frame.x_m - sample.x).hypot(frame.y_m - sample.y);
                assert!(off < 0.01 * path, "{} at {} s: {off} m off", solver.name, sample.time);
                let turning = (frame.yaw_rate_radps - sample.yaw_rate).abs();
                // 2 % of the largest yaw rate: the single-track car has no roll and builds force without delay.
                assert!(turning < 0.003, "{} at {} s: yaw rate {turning} rad/s off", solver.name, sample.time);
            }
        }
    }
}
