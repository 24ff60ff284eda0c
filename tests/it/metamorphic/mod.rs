//! Metamorphic relations between drives, without reference values: a mirrored car drives the mirrored path, longer
//! steps give the same result with less accuracy, and idle parts have no effect. A draw is a car, its ground, a
//! manoeuvre and a solver, all from one seed.
//!
//! A relation is a file with one function, `check`, which may first adapt the draw, for example to flat ground. A
//! violation prints the command that repeats it. `cargo xtask search` checks many draws; the test checks a few.

mod bearing;
mod company;
mod draw;
mod energy;
mod froude;
mod ground;
mod idle_assist;
mod idle_part;
mod manoeuvre;
mod mirror;
mod momentum;
mod purpose;
mod rate;
mod reverse;
mod rollover;
mod run;
mod saving;
mod shrink;
mod slip;
mod tilt;
mod translation;
mod yaw;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use draw::Draw;
use run::Run;

/// Description of a violated relation, with the size of the violation.
#[derive(Debug)]
struct Violation(String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Largest figure of a relation as a share of its limit, 0 for identical bits. `None` if the relation does not apply
/// to the draw.
type Outcome = Result<Option<f64>, Violation>;

/// Outcome of a relation that does not apply to a draw.
const NOT_APPLICABLE: Outcome = Ok(None);

/// Largest figure so far as a share of its limit.
#[derive(Default)]
struct Worst(Option<f64>);

impl Worst {
    /// Adds a `figure` with its limit `allowed`. Returns a violation with the text of `what` unless the figure is
    /// below the limit.
    fn add(&mut self, figure: f64, allowed: f64, what: impl FnOnce() -> String) -> Result<(), Violation> {
        self.require(figure < allowed, what)?;
        let share = if figure > 0.0 { figure / allowed } else { 0.0 };
        self.0 = self.0.map(|worst| worst.max(share));
        Ok(())
    }

    /// Adds a condition. Returns a violation with the text of `what` unless the condition `holds`.
    fn require(&mut self, holds: bool, what: impl FnOnce() -> String) -> Result<(), Violation> {
        self.0.get_or_insert(0.0);
        if holds { Ok(()) } else { Err(Violation(what())) }
    }

    /// Returns the largest figure, `None` if nothing was added.
    fn found(self) -> Outcome {
        Ok(self.0)
    }
}

/// Checks that two drives of `draw` differ by no more than rounding explains. `other` names the second drive in the
/// report. Does not apply to draws that are too sensitive.
fn same_but_for_rounding(draw: &Draw, other: &str, [run, second]: [&Run; 2]) -> Outcome {
    let Some(rounding) = draw.rounding(draw.sensitivity(run)) else { return NOT_APPLICABLE };
    let (apart, mut worst) = (draw.apart(run, second), Worst::default());
    worst.add(apart, rounding, || format!("{other}: {apart:.2e} m apart, rounding makes {rounding:.2e} m"))?;
    worst.found()
}

type Relation = (&'static str, fn(&Draw) -> Outcome);

/// Names and functions of all relations.
const RELATIONS: [Relation; 17] = [
    ("mirror", mirror::check),
    ("yaw", yaw::check),
    ("translation", translation::check),
    ("tilt", tilt::check),
    ("reverse", reverse::check),
    ("froude", froude::check),
    ("energy", energy::check),
    ("momentum", momentum::check),
    ("bearing", bearing::check),
    ("rollover", rollover::check),
    ("slip", slip::check),
    ("rate", rate::check),
    ("idle_assist", idle_assist::check),
    ("purpose", purpose::check),
    ("idle_part", idle_part::check),
    ("company", company::check),
    ("saving", saving::check),
];

/// Subset of all draws and relations that a search checks.
struct Search {
    seed: u64,
    draws: u64,
    /// Share of the draws, `[i, n]`: every n-th from the i-th on, counted from 0.
    shard: [u64; 2],
    /// Substring of the names of the relations to check.
    relation: String,
}

impl Search {
    /// Reads the search from the environment variables that `cargo xtask search` sets.
    fn from_environment() -> Self {
        let read = |name: &str| std::env::var(name).unwrap_or_default();
        let number = |name: &str, default: u64| read(name).parse().unwrap_or(default);
        let shard = read("SEARCH_SHARD");
        let shard = shard.split_once('/').and_then(|(i, n)| Some([i.parse().ok()?, n.parse().ok()?]));
        Self {
            seed: number("SEARCH_SEED", 1),
            draws: number(DRAWS, 100),
            shard: shard.unwrap_or([0, 1]),
            relation: read("SEARCH_RELATION"),
        }
    }

    /// Checks every draw of the search on `threads` threads.
    fn run(&self, threads: u64) -> Found {
        let (next, found) = (AtomicU64::new(self.shard[0]), Mutex::new(Found::default()));
        let work = || {
            loop {
                let k = next.fetch_add(self.shard[1], Ordering::Relaxed);
                if k >= self.draws {
                    return;
                }
                let draw = Draw::of(self.seed + k);
                for (i, (name, check)) in RELATIONS.into_iter().enumerate() {
                    if name.contains(&self.relation) {
                        // A panic violates any relation.
                        let outcome = catch_unwind(AssertUnwindSafe(|| simplified(&draw, check)));
                        let outcome = outcome.unwrap_or_else(|_| Err(Violation("panics".into())));
                        found.lock().expect("no panic").add(i, &draw, outcome);
                    }
                }
            }
        };
        std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
        found.into_inner().expect("no panic")
    }
}

/// Checks a relation. A violation also states the features of the draw that it needs.
fn simplified(draw: &Draw, check: fn(&Draw) -> Outcome) -> Outcome {
    check(draw).map_err(|Violation(told)| match shrink::needed(draw, check) {
        Some((needed, Violation(simplest))) => {
            Violation(format!("{told}\n  needs {}; then {simplest}", needed.join(", ")))
        }
        None => Violation(told),
    })
}

/// Result of a search.
#[derive(Default)]
struct Found {
    tallies: [Tally; RELATIONS.len()],
    /// Reports of violations with their seeds.
    violations: Vec<(u64, String)>,
}

/// Result of a search for one relation.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// Number of draws to which the relation applied.
    checked: u64,
    violated: u64,
    /// Largest figure of a draw without violation, as a share of its limit, and the seed of the draw.
    worst: (f64, u64),
}

impl Found {
    /// Adds the outcome of relation `i` on a draw.
    fn add(&mut self, i: usize, draw: &Draw, outcome: Outcome) {
        let (name, seed, tally) = (RELATIONS[i].0, draw.seed, &mut self.tallies[i]);
        match outcome {
            Ok(None) => return,
            Ok(Some(share)) if share >= tally.worst.0 => tally.worst = (share, seed),
            Ok(Some(_)) => {}
            Err(violation) => {
                tally.violated += 1;
                let repeat = format!("cargo xtask search --relation {name} --draws 1 --seed {seed}");
                self.violations.push((seed, format!("{name}, seed {seed}: {violation}\n  {draw}\n  {repeat}")));
            }
        }
        tally.checked += 1;
    }

    /// Panics with all reports if a relation is violated.
    #[track_caller]
    fn expect_none(mut self) {
        self.violations.sort();
        let reports: Vec<_> = self.violations.into_iter().map(|(_, report)| report).collect();
        assert!(reports.is_empty(), "{} violations\n{}", reports.len(), reports.join("\n"));
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<12} {:>8} {:>9}  worst figure of what is allowed, and its seed",
            "relation", "checked", "violated"
        )?;
        for ((name, _), Tally { checked, violated, worst: (share, seed) }) in RELATIONS.iter().zip(&self.tallies) {
            if *checked > 0 {
                writeln!(f, "{name:<12} {checked:>8} {violated:>9}  {:.1} %, {seed}", 100.0 * share)?;
            }
        }
        Ok(())
    }
}

/// Number of draws of the sample, counted from the first.
const SAMPLE: u64 = 60;

#[test]
fn a_sample_of_draws_violates_nothing() {
    Search { seed: 1, draws: SAMPLE, shard: [0, 1], relation: String::new() }.run(1).expect_none();
}

/// Name of the environment variable with the number of draws.
const DRAWS: &str = "SEARCH_DRAWS";

/// Search of `cargo xtask search`, which sets the environment. The test does nothing if the variable is not set.
#[test]
fn the_whole_search() {
    if std::env::var_os(DRAWS).is_none() {
        return;
    }
    let search = Search::from_environment();
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let Search { seed, draws, shard: [i, n], .. } = search;
    println!("{draws} draws from seed {seed} on, shard {i}/{n}");
    let found = search.run(threads);
    println!("{found}");
    found.expect_none();
}
