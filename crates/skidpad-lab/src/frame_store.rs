//! Rows of telemetry in order of time. The first rows are in memory; a long run stores further rows in an unnamed
//! temporary file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use skidpad_core::Frame;

/// Maximum number of rows in memory before the file is used. They need about 15 MB and cover 83 s at 240 Hz.
const MAX_FRAMES_IN_MEMORY: usize = 20_000;

/// Number of rows that are written to or read from the file at once.
const FRAMES_PER_BLOCK: usize = 512;

/// Rows of a run, at least one.
#[derive(Debug)]
pub(crate) struct FrameStore {
    /// First rows of the run.
    in_memory: Vec<Frame>,
    /// Maximum number of rows in `in_memory`.
    max_in_memory: usize,
    /// Temporary file of the rows beyond `max_in_memory`.
    frame_file: Mutex<FrameFile>,
    /// Number of rows in the file.
    in_file: usize,
    /// Rows after those in the file, not yet written.
    unwritten: Vec<Frame>,
}

/// File of rows. Each row is stored as its numbers in the order of the columns.
#[derive(Debug, Default)]
struct FrameFile {
    /// Open file; `None` before the first write.
    file: Option<File>,
    /// First error, after which the file is no longer used; `None` without an error.
    error: Option<io::Error>,
}

impl FrameStore {
    /// Creates a store with the telemetry row `first` that keeps [`MAX_FRAMES_IN_MEMORY`] rows in memory.
    pub fn new(first: Frame) -> Self {
        Self::with_memory_limit(MAX_FRAMES_IN_MEMORY, first)
    }

    /// Creates a store with the telemetry row `first` that keeps `max_in_memory` rows in memory (at least one) before
    /// it uses the file.
    pub fn with_memory_limit(max_in_memory: usize, first: Frame) -> Self {
        Self { in_memory: vec![first], max_in_memory, frame_file: Mutex::default(), in_file: 0, unwritten: Vec::new() }
    }

    /// Appends a telemetry row: to the rows in memory up to their limit, otherwise to the unwritten rows. Once there
    /// are more than [`FRAMES_PER_BLOCK`] unwritten rows, their first block is written to the file. The last row is
    /// therefore always in memory. [`FrameStore::failure`] reports a failed write, after which the rows of the block
    /// are lost.
    pub fn push(&mut self, frame: Frame) {
        if self.in_memory.len() < self.max_in_memory {
            return self.in_memory.push(frame);
        }
        self.unwritten.push(frame);
        if self.unwritten.len() > FRAMES_PER_BLOCK {
            let values: Vec<f64> = self.unwritten[..FRAMES_PER_BLOCK].iter().flat_map(Frame::row).collect();
            self.lock_file().append(&values);
            self.unwritten.drain(..FRAMES_PER_BLOCK);
            self.in_file += FRAMES_PER_BLOCK;
        }
    }

    /// Returns the number of telemetry rows, at least 1.
    pub fn len(&self) -> usize {
        self.in_memory.len() + self.in_file + self.unwritten.len()
    }

    /// Returns the number of telemetry rows that are in memory.
    #[cfg(test)]
    pub fn frames_in_memory(&self) -> usize {
        self.in_memory.len() + self.unwritten.len()
    }

    /// Returns the first telemetry row of the run.
    pub fn first(&self) -> &Frame {
        &self.in_memory[0]
    }

    /// Returns the last telemetry row of the run.
    pub fn last(&self) -> &Frame {
        self.unwritten.last().unwrap_or(&self.in_memory[self.in_memory.len() - 1])
    }

    /// Returns telemetry row `k`, counted from 0; `None` if there is no such row or the file cannot be read.
    pub fn get(&self, k: usize) -> Option<Cow<'_, Frame>> {
        // Number of the first row after those in the file.
        let unwritten_start = self.in_memory.len() + self.in_file;
        if k >= unwritten_start {
            return self.unwritten.get(k - unwritten_start).map(Cow::Borrowed);
        }
        self.in_memory.get(k).map(Cow::Borrowed).or_else(|| self.read(k, 1).pop().map(Cow::Owned))
    }

    /// Iterates over the telemetry rows from row `k` on, counted from 0: rows in memory, then rows of the file in
    /// blocks of [`FRAMES_PER_BLOCK`], then unwritten rows. Rows of a file that cannot be read are missing.
    pub fn frames_from(&self, k: usize) -> impl Iterator<Item = Cow<'_, Frame>> {
        // Number of the first row after those in the file.
        let unwritten_start = self.in_memory.len() + self.in_file;
        let memory_frames = self.in_memory.iter().skip(k).map(Cow::Borrowed);
        let block_starts = (k.max(self.in_memory.len())..unwritten_start).step_by(FRAMES_PER_BLOCK);
        let file_frames = block_starts
            .flat_map(move |block_start| self.read(block_start, FRAMES_PER_BLOCK.min(unwritten_start - block_start)))
            .map(Cow::Owned);
        memory_frames
            .chain(file_frames)
            .chain(self.unwritten.iter().skip(k.saturating_sub(unwritten_start)).map(Cow::Borrowed))
    }

    /// Returns the first error of the temporary file; `None` if no telemetry row is missing.
    pub fn failure(&self) -> Option<io::Error> {
        self.lock_file().error.as_ref().map(|error| io::Error::new(error.kind(), error.to_string()))
    }

    /// Reads `count` telemetry rows of the file, from row `first_row` of the run on (not below the number of rows in
    /// memory); returns none if the file cannot be read.
    fn read(&self, first_row: usize, count: usize) -> Vec<Frame> {
        let columns = self.first().row().len();
        let values = self.lock_file().values((first_row - self.in_memory.len()) * columns, count * columns);
        values.chunks(columns).map(|row| self.first().with_row(row)).collect()
    }

    /// Locks the file. A panic of another thread while it held the lock is ignored.
    fn lock_file(&self) -> MutexGuard<'_, FrameFile> {
        self.frame_file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FrameFile {
    /// Appends the numbers to the end of the file.
    fn append(&mut self, values: &[f64]) {
        self.with_file(|file| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
            file.seek(SeekFrom::End(0))?;
            file.write_all(&bytes)
        });
    }

    /// Reads `count` numbers from number `first_index` of the file; none if the file fails. The numbers have the byte
    /// order of the machine.
    fn values(&mut self, first_index: usize, count: usize) -> Vec<f64> {
        let bytes_read = self.with_file(|file| {
            let mut bytes = vec![0; count * size_of::<f64>()];
            file.seek(SeekFrom::Start((first_index * size_of::<f64>()) as u64))?;
            file.read_exact(&mut bytes)?;
            Ok(bytes)
        });
        // `.0`: all complete groups of 8 bytes; there is no rest.
        bytes_read.unwrap_or_default().as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect()
    }

    /// Calls `access` with the file and returns its result. The first call creates the file. The first error is stored;
    /// this call and all later calls then return `None`.
    fn with_file<T>(&mut self, access: impl FnOnce(&mut File) -> io::Result<T>) -> Option<T> {
        if self.error.is_some() {
            return None;
        }
        // The file is put back before it is used.
        let opened = match self.file.take() {
            Some(file) => Ok(file),
            None => tempfile::tempfile(),
        };
        let result = opened.and_then(|file| access(self.file.insert(file)));
        result.map_err(|error| self.error = Some(error)).ok()
    }
}
