//! Bytes of a glTF file: its chunks, its buffers, and the entries of its accessors.

use super::document::{Accessor, Buffer, Document};
use std::borrow::Cow;
use std::rc::Rc;

/// Returns the JSON of a file and, for a GLB file of version 2, its binary chunk if it has one. A file that does not
/// begin with `glTF` is JSON as a whole. Only the first chunk of each kind counts; other kinds are skipped. The error
/// is the reason as text: another version, a truncated chunk or no JSON. Layout: `glTF`, version, length of the file,
/// then chunks of length, kind and body; numbers have 4 bytes, little-endian.
pub(super) fn split_chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), String> {
    if !bytes.starts_with(b"glTF") {
        return Ok((bytes, None));
    }
    let read_u32 = |offset: usize| {
        let word = bytes.get(offset..offset + 4)?;
        Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
    };
    // The version follows the four bytes `glTF`.
    match read_u32(4) {
        Some(2) => {}
        Some(version) => return Err(format!("the GLB version is {version}, but must be 2")),
        None => return Err("the file ends within its header".into()),
    }
    // The first chunk follows the header of 12 bytes.
    let (mut json, mut binary, mut offset) = (None, None, 12);
    while let (Some(length), Some(kind)) = (read_u32(offset), read_u32(offset + 4)) {
        // The body follows length and kind.
        let start = offset + 8;
        let end = start.checked_add(length as usize).ok_or("a chunk is not complete")?;
        let body = bytes.get(start..end).ok_or_else(|| format!("a chunk lacks {length} bytes"))?;
        match &kind.to_le_bytes() {
            b"JSON" if json.is_none() => json = Some(body),
            b"BIN\0" if binary.is_none() => binary = Some(body),
            _ => {}
        }
        offset = end;
    }
    Ok((json.ok_or("the file has no JSON chunk")?, binary))
}

/// Document with the bytes of its buffers.
pub(super) struct DocumentBuffers<'a, 'b> {
    /// JSON of the file.
    document: &'a Document,
    /// Bytes of the buffers, in their order.
    buffers: Vec<SharedBytes<'b>>,
}

/// Bytes of a buffer, shared by all buffers of one file.
pub(super) type SharedBytes<'a> = Rc<Cow<'a, [u8]>>;

/// Maximum number of bytes of all buffers together. Bytes that several buffers share count once.
const MAX_BUFFER_BYTES: usize = 1 << 29;

/// Number of glTF for components of 8 bits without sign.
const COMPONENT_UNSIGNED_BYTE: u32 = 5121;
/// Number of glTF for components of 16 bits without sign.
const COMPONENT_UNSIGNED_SHORT: u32 = 5123;
/// Number of glTF for components of 32 bits without sign.
const COMPONENT_UNSIGNED_INT: u32 = 5125;
/// Number of glTF for components in single precision.
const COMPONENT_FLOAT: u32 = 5126;

impl<'a, 'b> DocumentBuffers<'a, 'b> {
    /// Reads all buffers of `document`. A buffer is in the binary chunk `binary` (only the first buffer), in the
    /// document as base64 (`data:`), or in another file. `read_file` reads such a file by its path, whose
    /// percent-encoding was removed; bytes that it shares between buffers count once. The error is the reason as text
    /// with the number of the buffer: missing data, invalid base64, remote files (`://`), unreadable files, or more
    /// than [`MAX_BUFFER_BYTES`] together.
    pub fn read_buffers(
        document: &'a Document,
        binary: Option<&'b [u8]>,
        mut read_file: impl FnMut(&str) -> Result<SharedBytes<'b>, String>,
    ) -> Result<Self, String> {
        let mut read_buffer = |(buffer_index, buffer): (usize, &Buffer)| match (&buffer.uri, binary) {
            (None, Some(binary)) if buffer_index == 0 => Ok(Rc::new(Cow::Borrowed(binary))),
            (None, _) => Err("the buffer has neither a file nor data".to_owned()),
            (Some(uri), _) if uri.starts_with("data:") => {
                let bytes = uri.split_once(";base64,").and_then(|(_, text)| decode_base64(text));
                bytes.map(|bytes| Rc::new(Cow::Owned(bytes))).ok_or_else(|| "the data are not valid base64".to_owned())
            }
            (Some(uri), _) if uri.contains("://") => Err(format!("{uri:?} is not in the folder of this file")),
            (Some(uri), _) => read_file(&decode_percent(uri)),
        };
        let (mut buffers, mut total_bytes): (Vec<SharedBytes<'b>>, usize) = (Vec::new(), 0);
        for (buffer_index, buffer) in document.buffers.iter().enumerate() {
            let bytes =
                read_buffer((buffer_index, buffer)).map_err(|reason| format!("buffer {buffer_index}: {reason}"))?;
            if !buffers.iter().any(|known_bytes| Rc::ptr_eq(known_bytes, &bytes)) {
                total_bytes += bytes.len();
            }
            if total_bytes > MAX_BUFFER_BYTES {
                return Err(format!(
                    "buffers 0 to {buffer_index} have {total_bytes} bytes; the maximum is {MAX_BUFFER_BYTES}"
                ));
            }
            buffers.push(bytes);
        }
        Ok(Self { document, buffers })
    }

    /// Returns the accessor with this index.
    fn accessor(&self, accessor_index: usize) -> Result<&'a Accessor, String> {
        self.document.accessors.get(accessor_index).ok_or_else(|| format!("accessor {accessor_index} does not exist"))
    }

    /// Returns the number of entries of an accessor.
    pub fn count(&self, accessor: usize) -> Result<usize, String> {
        self.accessor(accessor).map(|accessor| accessor.count)
    }

    /// Returns the positions in accessor `accessor_index`, converted from single precision. The error is the reason as
    /// text, also for an accessor without entries of three floats.
    pub fn positions(&self, accessor_index: usize) -> Result<impl Iterator<Item = [f64; 3]>, String> {
        let accessor = self.accessor(accessor_index)?;
        if (accessor.kind.as_str(), accessor.component_type) != ("VEC3", COMPONENT_FLOAT) {
            return Err(format!("accessor {accessor_index} does not hold positions of three floats"));
        }
        let read_float = |word: &[u8]| f64::from(f32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        let read_position = move |entry: &[u8]| [0, 4, 8].map(|offset| read_float(&entry[offset..offset + 4]));
        // Three floats of 4 bytes.
        Ok(self.entries(accessor_index, 12)?.map(read_position))
    }

    /// Returns the indices of corners in accessor `accessor_index`, which are unsigned numbers of 8, 16 or 32 bits. The
    /// error is the reason as text, also for an accessor of another type.
    pub fn indices(&self, accessor_index: usize) -> Result<Vec<u32>, String> {
        let accessor = self.accessor(accessor_index)?;
        let size = match (accessor.kind.as_str(), accessor.component_type) {
            ("SCALAR", COMPONENT_UNSIGNED_BYTE) => 1,
            ("SCALAR", COMPONENT_UNSIGNED_SHORT) => 2,
            ("SCALAR", COMPONENT_UNSIGNED_INT) => 4,
            _ => return Err(format!("accessor {accessor_index} does not hold unsigned indices of 8, 16 or 32 bits")),
        };
        // Little-endian: the last byte is the highest one.
        let read_index = |entry: &[u8]| entry.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
        Ok(self.entries(accessor_index, size)?.map(read_index).collect())
    }

    /// Returns the bytes of each entry of an accessor (list of numbers in a view, a part of a buffer). `size` is the
    /// number of bytes of an entry. The first entry begins at the offset of the view plus that of the accessor. Entries
    /// begin one stride apart, `size` if the view states none. The error is the reason as text: no such accessor, a
    /// sparse accessor, no view, a stride below `size`, or bytes beyond the view or the buffer.
    fn entries(&self, accessor_index: usize, size: usize) -> Result<impl Iterator<Item = &[u8]>, String> {
        let accessor = self.accessor(accessor_index)?;
        if accessor.sparse.is_some() {
            return Err(format!("accessor {accessor_index} is sparse, which is not supported"));
        }
        let view = accessor.buffer_view.and_then(|view| self.document.buffer_views.get(view));
        let view = view.ok_or_else(|| format!("accessor {accessor_index} has no data"))?;
        let stride = view.byte_stride.unwrap_or(size);
        if stride < size {
            return Err(format!(
                "accessor {accessor_index} has a stride of {stride} bytes, less than its entry size of {size} bytes"
            ));
        }
        let accessor_bytes = self.buffers.get(view.buffer).and_then(|buffer| {
            let bytes = buffer.get(view.byte_offset..view.byte_offset.checked_add(view.byte_length)?)?;
            // The last entry needs no full stride.
            let length = stride.checked_mul(accessor.count.saturating_sub(1))?.checked_add(size)?;
            let length = if accessor.count == 0 { 0 } else { length };
            bytes.get(accessor.byte_offset..accessor.byte_offset.checked_add(length)?)
        });
        let bytes = accessor_bytes.ok_or_else(|| format!("the data of accessor {accessor_index} are not complete"))?;
        Ok(bytes.chunks(stride).take(accessor.count).map(move |entry| &entry[..size]))
    }
}

/// Decodes base64 (RFC 4648), padded with `=` or not: 6 bits for each character, highest first. Bits that do not fill a
/// byte at the end are dropped. Returns `None` if the text has other characters, also spaces.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    // Bits that are not yet in a byte, and their number.
    let (mut bits, mut count) = (0u32, 0);
    for digit in text.trim_end_matches('=').bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        // Bits of bytes that are complete move up and are lost at the top.
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// Decodes the percent-encoded characters of a URI (`%20`). A `%` without two hexadecimal digits is kept; bytes that
/// are not UTF-8 are replaced.
fn decode_percent(uri: &str) -> String {
    let decode_digits = |index: usize| u8::from_str_radix(uri.get(index + 1..index + 3)?, 16).ok();
    let (mut bytes, mut index) = (Vec::new(), 0);
    while let Some(&byte) = uri.as_bytes().get(index) {
        match decode_digits(index).filter(|_| byte == b'%') {
            Some(decoded_byte) => {
                bytes.push(decoded_byte);
                index += 3;
            }
            None => {
                bytes.push(byte);
                index += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
