//! Height fields from pictures, which were written by Pillow (`make.py`).

use super::{faults, scene, shipped};
use proptest::prelude::*;

const FIELD: &str =
    "[[height_field]]\nfile = \"a.png\"\nlowest_m = -1\nhighest_m = 4\ncorner_m = [5, 6, 7]\nspacing_m = [2, 3]\n";
const GREY: &[u8] = include_bytes!("grey8.png");

#[test]
fn the_last_row_has_the_least_y() {
    let loaded = scene(FIELD, &[("a.png", GREY)]).expect("valid");
    let field = &loaded.scene.height_fields[0];
    assert_eq!((field.counts(), field.spacing()), ([3, 2], [2.0, 3.0]));
    // The picture has the rows 0, 51, 102 and 153, 204, 255.
    let heights: Vec<f32> = (0..2).flat_map(|row| (0..3).map(move |column| field.height(column, row))).collect();
    assert_eq!(heights, [2.0, 3.0, 4.0, -1.0, 0.0, 1.0]);
}

#[test]
fn sixteen_bits_are_read_to_their_last() {
    let loaded = shipped("scenes/hill.toml");
    let field = &loaded.scene.height_fields[0];
    assert_eq!(field.counts(), [121, 33]);
    for (column, row) in [(0, 0), (60, 20), (60, 12), (47, 25), (80, 15), (60, 32)] {
        let (x, y) = (10.0 + 0.25 * column as f64, -4.0 + 0.25 * row as f64);
        let bump = |from: f64, half: f64| {
            let angle = core::f64::consts::PI * from / (2.0 * half);
            if from.abs() < half { angle.cos().powi(2) } else { 0.0 }
        };
        let expected = 0.6 * bump(x - 25.0, 10.0) * bump(y - 1.0, 3.0);
        let found = f64::from(field.height(column, row));
        assert!((found - expected).abs() < 0.51 * 0.6 / 65535.0, "{column}, {row}: {found} of {expected}");
    }
}

#[test]
fn other_pictures_are_refused_by_name() {
    for (bytes, kind) in [
        (&include_bytes!("rgb.png")[..], "the picture has colour (8 bits)"),
        (include_bytes!("rgba.png"), "the picture has colour with transparency (8 bits)"),
        (include_bytes!("la.png"), "the picture has grey with transparency (8 bits)"),
        (include_bytes!("p.png"), "the picture has a palette of colours (8 bits)"),
        (include_bytes!("bit.png"), "the picture has grey (1 bits)"),
        (&GREY[..40], "nexpected end"),
        (b"GIF89a", "nvalid PNG signature"),
    ] {
        let told = faults(FIELD, &[("a.png", bytes)]);
        assert!(told.contains("`height_field[0].file` is \"a.png\"") && told.contains(kind), "{told}");
    }
    // A picture of 50,000 x 50,000 pixels without valid data after its header.
    let mut huge = GREY.to_vec();
    huge[16..24].copy_from_slice(&[0, 0, 0xc3, 0x50, 0, 0, 0xc3, 0x50]);
    let told = faults(FIELD, &[("a.png", &with_sums(huge))]);
    assert!(told.contains("50000 x 50000 heights; the maximum is 25000000"), "{told}");
}

#[test]
fn heights_of_black_and_white_must_be_there_and_rise() {
    let told = faults(&FIELD.replace("lowest_m = -1\n", ""), &[("a.png", GREY)]);
    assert!(told.contains("`height_field[0].lowest_m` is missing: it must be the height of black"), "{told}");
    let told = faults(&FIELD.replace("highest_m = 4", "highest_m = -2"), &[("a.png", GREY)]);
    assert!(told.contains("`height_field[0].highest_m`: -2, but must be at least `lowest_m` (-1)"), "{told}");
    let lists =
        "[[height_field]]\ncorner_m = [0, 0, 0]\nspacing_m = [1, 1]\nheights_m = [[0, 1], [2, 3]]\nlowest_m = 1\n";
    let told = faults(lists, &[]);
    assert!(told.contains("`height_field[0].lowest_m`: set without a `file`"), "{told}");
}

/// Returns the bytes with correct check sums of their chunks, so that not every mutant is rejected because of a check sum.
fn with_sums(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = 8;
    while let Some(length) = bytes.get(at..at + 4) {
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let end = at + 8 + length;
        let Some(body) = bytes.get(at + 4..end) else { break };
        let sum = crc(body);
        let Some(place) = bytes.get_mut(end..end + 4) else { break };
        place.copy_from_slice(&sum.to_be_bytes());
        at = end + 4;
    }
    bytes
}

/// Computes the CRC-32 of the PNG specification.
fn crc(bytes: &[u8]) -> u32 {
    let bit = |sum: u32, _| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, &byte| (0..8).fold(sum ^ u32::from(byte), bit))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutants_are_fields_or_have_faults(changes in prop::collection::vec((any::<usize>(), any::<u8>()), 1..5), cut in any::<usize>()) {
        let hill = include_bytes!("../../../../../scenes/hill.png");
        for whole in [GREY, hill] {
            let mut bytes = whole.to_vec();
            for &(at, value) in &changes {
                // More than half of the changes are in the header.
                let count = if at % 2 == 0 { 33 } else { bytes.len() };
                bytes[at / 2 % count] = value;
            }
            if cut % 4 == 0 {
                bytes.truncate(cut / 4 % bytes.len());
            }
            for bytes in [bytes.clone(), with_sums(bytes)] {
                if let Ok(loaded) = scene(FIELD, &[("a.png", &bytes)]) {
                    prop_assert!(loaded.scene.height_fields[0].counts().iter().all(|&count| count > 1));
                }
            }
        }
    }
}
