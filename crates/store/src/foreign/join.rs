//! Joins the results of several files into one set: contenders, and repetitions of the same load.

use super::console::console_output;
use super::{File, ForeignError, RESULT_READERS, ResultReader};
use brunt_model::{LoadUnit, Observation, Observations};
use std::mem::discriminant;

/// Reads result files and joins their results.
///
/// A single file keeps its own contender names. With several files, a contender is named after its
/// file, without the folder, the extension and the number at the end: `nginx-100.tsv` and
/// `nginx-200.tsv` belong to one sweep. `more` has formats in addition to [`RESULT_READERS`].
///
/// # Errors
///
/// [`ForeignError`] if a file has an unknown format or invalid content, if the loads have different
/// units, or if there are no results.
pub fn read(files: &[File], more: &[ResultReader]) -> Result<Observations, ForeignError> {
    let mut joined: Option<Observations> = None;
    for file in files {
        let mut one = read_one(file, more)?;
        name_contenders(&mut one, &file.name, files.len());
        joined = Some(match joined {
            None => one,
            Some(all) => join(all, one, &file.name)?,
        });
    }
    let mut joined =
        joined.filter(|all| !all.observations.is_empty()).ok_or(ForeignError::Nothing)?;
    count_repetitions(&mut joined.observations);
    Ok(joined)
}

fn read_one(file: &File, more: &[ResultReader]) -> Result<Observations, ForeignError> {
    let name = file.name.clone();
    let readers = RESULT_READERS.iter().chain(more);
    if let Some(reader) = readers.clone().find(|reader| (reader.matches)(&file.text)) {
        return (reader.read)(file).map_err(|what| ForeignError::Invalid { name, what });
    }
    if let Some(output) = console_output(&file.text) {
        return Err(ForeignError::Console { name, tool: output.tool, remedy: output.remedy });
    }
    let formats: Vec<&str> = readers.map(|reader| reader.about).collect();
    Err(ForeignError::Unknown { name, formats: formats.join("; ") })
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

fn join(
    mut all: Observations,
    one: Observations,
    file: &str,
) -> Result<Observations, ForeignError> {
    if discriminant(&all.unit) != discriminant(&one.unit) {
        return Err(ForeignError::Mixed(file.into()));
    }
    if all.unit != one.unit {
        // Different think times cannot be expressed by one value.
        all.unit = LoadUnit::Users { think: None };
    }
    for mut observation in one.observations {
        let Some(name) = one.contenders.get(observation.contender) else { continue };
        observation.contender =
            all.contenders.iter().position(|known| known == name).unwrap_or_else(|| {
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

/// Numbers the repetitions: the n-th observation of a contender at the same load
/// is its n-th repetition.
fn count_repetitions(observations: &mut [Observation]) {
    for index in 0..observations.len() {
        let (before, rest) = observations.split_at_mut(index);
        let current = &mut rest[0];
        current.repetition = before
            .iter()
            .filter(|o| o.contender == current.contender && o.load == current.load)
            .count() as u32;
    }
}

/// Returns a file name without folder and extension.
pub(super) fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

fn without_number(stem: &str) -> &str {
    let bare = stem
        .trim_end_matches(|letter: char| letter.is_ascii_digit())
        .trim_end_matches(['-', '_', '.', ' ']);
    if bare.is_empty() { stem } else { bare }
}

/// Returns the number at the end of a file name, before the extension.
pub(super) fn number_of(name: &str) -> Option<f64> {
    let stem = stem(name);
    stem[stem.trim_end_matches(|letter: char| letter.is_ascii_digit()).len()..].parse().ok()
}
