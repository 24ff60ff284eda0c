//! Seeded mutations of inputs: dictionary words, lines, numbers, bits, and pieces of other inputs.

use std::path::Path;

use crate::step::random::Random;

/// Reads the words of the dictionary `name` of the repository at `root`. The format is that of libFuzzer: a quoted
/// word in each line, `\xNN` for bytes.
pub fn dictionary(root: &Path, name: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(root.join(format!("fuzz/dictionaries/{name}.dict"))).expect("a dictionary");
    let quoted = text.lines().filter(|line| !line.starts_with('#'));
    quoted.map(|line| unescaped(line.trim_matches('"'))).collect()
}

fn unescaped(word: &str) -> Vec<u8> {
    let mut parts = word.split("\\x");
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).expect("two digits"));
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    bytes
}

/// Source of mutated inputs.
pub struct Mutator {
    /// Inputs that are mutated.
    pub seeds: Vec<Vec<u8>>,
    /// Words that replace or extend parts of the inputs.
    pub dictionary: Vec<Vec<u8>>,
}

impl Mutator {
    /// Returns a random seed after one to five mutations.
    pub fn next(&self, random: &mut Random) -> Vec<u8> {
        let mut bytes = self.seeds[random.below(self.seeds.len())].clone();
        for _ in 0..=random.below(5) {
            bytes = self.mutated(bytes, random);
        }
        bytes
    }

    fn mutated(&self, mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
        let place = |random: &mut Random, length: usize| random.below(length + 1);
        let at = place(random, bytes.len());
        let word = self.dictionary[random.below(self.dictionary.len())].clone();
        match random.below(12) {
            0 => bytes.splice(at..at, word).for_each(drop),
            1 => {
                let end = (at + word.len()).min(bytes.len());
                bytes.splice(at..end, word).for_each(drop);
            }
            2..=4 => return with_number(&bytes, &word, random),
            5..=7 => return with_lines(&bytes, random),
            8 => bytes.truncate(at),
            9 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            10 => {
                let end = at + random.below(60);
                bytes.drain(at..end.min(bytes.len())).for_each(drop);
            }
            _ => {
                let other = &self.seeds[random.below(self.seeds.len())];
                let from = place(random, other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
        bytes
    }
}

/// Returns `bytes` with one of its numbers, chosen at random, replaced by `word`.
fn with_number(bytes: &[u8], word: &[u8], random: &mut Random) -> Vec<u8> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let mut numbers = Vec::new();
    let mut start = 0;
    for part in bytes.chunk_by(|one, other| is_part(one) == is_part(other)) {
        if part.iter().any(u8::is_ascii_digit) && is_part(&part[0]) {
            numbers.push(start..start + part.len());
        }
        start += part.len();
    }
    if numbers.is_empty() {
        return bytes.to_vec();
    }
    let number = numbers[random.below(numbers.len())].clone();
    [&bytes[..number.start], word, &bytes[number.end..]].concat()
}

/// Returns `bytes` with a random line removed, repeated or exchanged with another one.
fn with_lines(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    if lines.is_empty() {
        return bytes.to_vec();
    }
    let [one, other] = [random.below(lines.len()), random.below(lines.len())];
    match random.below(3) {
        0 => drop(lines.remove(one)),
        1 => lines.insert(other, lines[one]),
        _ => lines.swap(one, other),
    }
    lines.concat()
}
