//! Several files become one: contenders, and repetitions of the same load.

use super::{File, ForeignError, READERS};
use brunt_model::{LoadUnit, Observation, Observations};
use std::mem::discriminant;

/// Reads files. One file's contenders are named by itself where it names them. With several, a contender is named by its
/// file, without folder, ending and the number at its end: `nginx-100.tsv` and `nginx-200.tsv` are of one sweep.
///
/// # Errors
///
/// [`ForeignError`] if a file is of no known kind or makes no sense, if loads have different units, or if nothing is in them.
pub fn read(files: &[File]) -> Result<Observations, ForeignError> {
    let mut joined: Option<Observations> = None;
    for file in files {
        let mut one = read_one(file)?;
        name_contenders(&mut one, &file.name, files.len());
        joined = Some(match joined {
            None => one,
            Some(all) => join(all, one, &file.name)?,
        });
    }
    let mut joined = joined.filter(|all| !all.observations.is_empty()).ok_or(ForeignError::Nothing)?;
    count_repetitions(&mut joined.observations);
    Ok(joined)
}

fn read_one(file: &File) -> Result<Observations, ForeignError> {
    let reader = READERS.iter().find(|reader| (reader.knows)(&file.text));
    let reader = reader.ok_or_else(|| ForeignError::Unknown(file.name.clone()))?;
    (reader.read)(file).map_err(|what| ForeignError::Senseless { name: file.name.clone(), what })
}

fn name_contenders(one: &mut Observations, file: &str, files: usize) {
    let by_file = without_number(stem(file));
    let several = one.contenders.len() > 1;
    for contender in &mut one.contenders {
        if contender.is_empty() || (files > 1 && !several) {
            by_file.clone_into(contender);
        } else if files > 1 {
            *contender = format!("{by_file} {contender}");
        }
    }
}

fn join(mut all: Observations, one: Observations, file: &str) -> Result<Observations, ForeignError> {
    if discriminant(&all.unit) != discriminant(&one.unit) {
        return Err(ForeignError::Mixed(file.into()));
    }
    if all.unit != one.unit {
        // Think times that differ have no one value.
        all.unit = LoadUnit::Users { think: None };
    }
    for mut observation in one.observations {
        let Some(name) = one.contenders.get(observation.contender) else { continue };
        observation.contender = all.contenders.iter().position(|known| known == name).unwrap_or_else(|| {
            all.contenders.push(name.clone());
            all.contenders.len() - 1
        });
        all.observations.push(observation);
    }
    for note in one.notes {
        if !all.notes.contains(&note) {
            all.notes.push(note);
        }
    }
    Ok(all)
}

/// The n-th of the same load is the n-th repetition.
fn count_repetitions(observations: &mut [Observation]) {
    for at in 0..observations.len() {
        let (before, rest) = observations.split_at_mut(at);
        let own = &mut rest[0];
        own.repetition = before.iter().filter(|o| o.contender == own.contender && o.load == own.load).count() as u32;
    }
}

/// A file's name without folder and ending.
pub(super) fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

fn without_number(stem: &str) -> &str {
    let bare = stem.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end_matches(['-', '_', '.', ' ']);
    if bare.is_empty() { stem } else { bare }
}

/// The number at the end of a file's name.
pub(super) fn number_of(name: &str) -> Option<f64> {
    let stem = stem(name);
    stem[stem.trim_end_matches(|letter: char| letter.is_ascii_digit()).len()..].parse().ok()
}
