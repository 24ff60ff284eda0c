//! Heights from greyscale PNG pictures.

use super::file_mesh::FileError;
use png::{BitDepth, ColorType};
use std::io::Cursor;

/// Maximum number of heights of a picture.
const MAX_PICTURE_HEIGHTS: u64 = 25_000_000;

/// Heights of a picture.
#[derive(Debug)]
pub(super) struct Picture {
    /// Number of heights along x and y of the scene.
    pub counts: [usize; 2],
    /// Values of the pixels, row by row from the last row of the picture up.
    values: Vec<u16>,
    /// Pixel value of white.
    white: u16,
}

impl Picture {
    /// Returns the heights in the order of a height field, m: `lowest` for black, `highest` for white, linear between
    /// them.
    pub fn heights(&self, lowest: f64, highest: f64) -> Vec<f32> {
        let white = f64::from(self.white);
        let to_height = |value: &u16| (lowest + f64::from(*value) / white * (highest - lowest)) as f32;
        self.values.iter().map(to_height).collect()
    }
}

/// Reads the bytes of a greyscale PNG picture of 8 or 16 bits, without a change of the values. The rows are reversed,
/// so that the last row of the picture has the least y. White is 255 or 65535 by the number of bits. Only the first
/// frame of an animation is read, and a transparent grey value (`tRNS`) is ignored. The error is the reason as text:
/// invalid PNG, another kind of picture, or more than [`MAX_PICTURE_HEIGHTS`].
pub(super) fn read(bytes: &[u8]) -> Result<Picture, FileError> {
    let to_file_error = |error: png::DecodingError| FileError::Reason(error.to_string());
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().map_err(to_file_error)?;
    let (color, depth) = reader.output_color_type();
    // Bytes of a pixel.
    let pixel_bytes = match (color, depth) {
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
            return Err(FileError::Reason(format!(
                "the picture has {kind} ({} bits); only grey with 8 or 16 bits is supported",
                depth as u8
            )));
        }
    };
    let (width, height) = reader.info().size();
    let pixel_count = u64::from(width) * u64::from(height);
    if pixel_count > MAX_PICTURE_HEIGHTS {
        return Err(FileError::Reason(format!("{width} x {height} heights; the maximum is {MAX_PICTURE_HEIGHTS}")));
    }
    let mut pixel_data = vec![0; pixel_count as usize * pixel_bytes];
    reader.next_frame(&mut pixel_data).map_err(to_file_error)?;
    let counts = [width as usize, height as usize];
    // PNG stores the high byte first.
    let read_pixel = |value: &[u8]| match *value {
        [high, low] => u16::from_be_bytes([high, low]),
        [value, ..] => value.into(),
        [] => 0,
    };
    let white = if pixel_bytes == 2 { u16::MAX } else { u8::MAX.into() };
    let rows = pixel_data.chunks_exact(counts[0].max(1) * pixel_bytes).rev();
    let values = rows.flat_map(|row| row.chunks_exact(pixel_bytes).map(read_pixel)).collect();
    Ok(Picture { counts, values, white })
}
