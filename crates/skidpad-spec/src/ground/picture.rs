//! Heights as PNG pictures in grey.

use super::triangles::Refusal;
use png::{BitDepth, ColorType};
use std::io::Cursor;

/// Heights a picture may have.
const MOST_HEIGHTS: u64 = 25_000_000;

/// Heights of a picture.
pub(super) struct Picture {
    /// Along x and y of a scene.
    pub counts: [usize; 2],
    /// Of white, from the last row of the picture up.
    pub shares: Vec<f64>,
}

/// Reads the bytes of a picture: the first of several that follow each other, without its palette of transparency.
pub(super) fn read(bytes: &[u8]) -> Result<Picture, Refusal> {
    let told = |error: png::DecodingError| Refusal::For(error.to_string());
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().map_err(told)?;
    let (color, depth) = reader.output_color_type();
    let whole = match (color, depth) {
        (ColorType::Grayscale, BitDepth::Eight) => 1,
        (ColorType::Grayscale, BitDepth::Sixteen) => 2,
        _ => {
            let kind = match color {
                ColorType::Grayscale => "grey",
                ColorType::GrayscaleAlpha => "grey with transparency",
                ColorType::Indexed => "a palette of colours",
                ColorType::Rgb => "colour",
                ColorType::Rgba => "colour with transparency",
            };
            return Err(Refusal::For(format!("it is {kind} of {} bits, of grey of 8 or 16 bits", depth as u8)));
        }
    };
    let (width, height) = reader.info().size();
    let count = u64::from(width) * u64::from(height);
    if count > MOST_HEIGHTS {
        return Err(Refusal::For(format!("{width} x {height} heights, of {MOST_HEIGHTS} at most")));
    }
    let mut values = vec![0; count as usize * whole];
    reader.next_frame(&mut values).map_err(told)?;
    let counts = [width as usize, height as usize];
    let share = |value: &[u8]| match *value {
        [high, low] => f64::from(u16::from_be_bytes([high, low])) / f64::from(u16::MAX),
        [value, ..] => f64::from(value) / f64::from(u8::MAX),
        [] => 0.0,
    };
    let rows = values.chunks_exact(counts[0].max(1) * whole).rev();
    let shares = rows.flat_map(|row| row.chunks_exact(whole).map(share)).collect();
    Ok(Picture { counts, shares })
}
