//! Rows of a run, in order: the first ones in memory, those of a long run beyond in a temporary file that no one else sees.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use skidpad_core::Frame;

/// Rows held in memory, about 15 MB of them: a minute and a half at 240 Hz.
const HELD: usize = 20_000;

/// Rows that go to the file, and come from it, at once.
const PART: usize = 512;

/// At least one row.
#[derive(Debug)]
pub(crate) struct Rows {
    held: Vec<Frame>,
    most_held: usize,
    filed: Mutex<Filed>,
    /// Rows in the file.
    in_file: usize,
    /// Those after them.
    newest: Vec<Frame>,
}

/// Rows as numbers in the order of their columns, one after the other.
#[derive(Debug, Default)]
struct Filed {
    file: Option<File>,
    failed: Option<io::Error>,
}

impl Rows {
    pub fn new(first: Frame) -> Self {
        Self::holding(HELD, first)
    }

    /// Holds `most_held` rows in memory, at least one.
    pub fn holding(most_held: usize, first: Frame) -> Self {
        Self { held: vec![first], most_held, filed: Mutex::default(), in_file: 0, newest: Vec::new() }
    }

    /// Appends a row; what a file cannot take is told by [`Rows::failure`].
    pub fn push(&mut self, frame: Frame) {
        if self.held.len() < self.most_held {
            return self.held.push(frame);
        }
        self.newest.push(frame);
        if self.newest.len() > PART {
            let values: Vec<f64> = self.newest[..PART].iter().flat_map(Frame::row).collect();
            self.filed().append(&values);
            self.newest.drain(..PART);
            self.in_file += PART;
        }
    }

    pub fn len(&self) -> usize {
        self.held.len() + self.in_file + self.newest.len()
    }

    /// Rows that take memory now.
    #[cfg(test)]
    pub fn held_in_memory(&self) -> usize {
        self.held.len() + self.newest.len()
    }

    pub fn first(&self) -> &Frame {
        &self.held[0]
    }

    pub fn last(&self) -> &Frame {
        self.newest.last().unwrap_or(&self.held[self.held.len() - 1])
    }

    /// Row `k`, counted from 0.
    pub fn get(&self, k: usize) -> Option<Cow<'_, Frame>> {
        let beyond = self.held.len() + self.in_file;
        if k >= beyond {
            return self.newest.get(k - beyond).map(Cow::Borrowed);
        }
        self.held.get(k).map(Cow::Borrowed).or_else(|| self.read(k, 1).pop().map(Cow::Owned))
    }

    /// Rows from row `k` on.
    pub fn from(&self, k: usize) -> impl Iterator<Item = Cow<'_, Frame>> {
        let beyond = self.held.len() + self.in_file;
        let held = self.held.iter().skip(k).map(Cow::Borrowed);
        let parts = (k.max(self.held.len())..beyond).step_by(PART);
        let filed = parts.flat_map(move |from| self.read(from, PART.min(beyond - from))).map(Cow::Owned);
        held.chain(filed).chain(self.newest.iter().skip(k.saturating_sub(beyond)).map(Cow::Borrowed))
    }

    /// Why rows are missing, if some are.
    pub fn failure(&self) -> Option<io::Error> {
        self.filed().failed.as_ref().map(|error| io::Error::new(error.kind(), error.to_string()))
    }

    /// `count` rows of the file, from row `from` on; none of them when it cannot be read.
    fn read(&self, from: usize, count: usize) -> Vec<Frame> {
        let columns = self.first().row().len();
        let values = self.filed().values((from - self.held.len()) * columns, count * columns);
        values.chunks(columns).map(|row| self.first().with_row(row)).collect()
    }

    fn filed(&self) -> MutexGuard<'_, Filed> {
        self.filed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Filed {
    fn append(&mut self, values: &[f64]) {
        self.attempt(|file| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
            file.seek(SeekFrom::End(0))?;
            file.write_all(&bytes)
        });
    }

    fn values(&mut self, from: usize, count: usize) -> Vec<f64> {
        let read = self.attempt(|file| {
            let mut bytes = vec![0; count * size_of::<f64>()];
            file.seek(SeekFrom::Start((from * size_of::<f64>()) as u64))?;
            file.read_exact(&mut bytes)?;
            Ok(bytes)
        });
        read.unwrap_or_default().as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect()
    }

    /// Nothing after the first failure.
    fn attempt<T>(&mut self, with: impl FnOnce(&mut File) -> io::Result<T>) -> Option<T> {
        if self.failed.is_some() {
            return None;
        }
        let made = match self.file.take() {
            Some(file) => Ok(file),
            None => tempfile::tempfile(),
        };
        let done = made.and_then(|file| with(self.file.insert(file)));
        done.map_err(|error| self.failed = Some(error)).ok()
    }
}
