//! A search that was made, or goes on: its trials as `search` sees them, and what they came to.
//!
//! What it is **not**: the choice of loads and the capacities, which are `search`'s.

use brunt_model::analysis::{Analysed, Bottleneck, Culprit};
use brunt_model::answer::SearchEnd;
use brunt_model::finding::Weight;
use brunt_model::question::{Fulfilled, Requirement};
use brunt_model::{Analysis, Answer, Find, Finding, Run, Study, Trial};
use brunt_search::{Next, Purpose, Search, Seen};
use std::time::Duration;

/// Between two trials, a longer time was no part of the search: somebody had stopped it.
const LONGEST_PAUSE_SECONDS: f64 = 60.0;

/// The search of one contender, as far as it has come.
pub struct Contended<'a> {
    /// What looks for it.
    pub search: Search,
    /// Its name.
    pub name: &'a str,
    /// Its trials.
    pub trials: Vec<&'a Trial>,
    /// The same, as the search sees them; times without the pauses in which it was stopped.
    pub seen: Vec<Seen>,
}

/// The search of one contender, as far as it has come.
pub fn contended<'a>(study: &'a Study, find: &Find, contender: usize) -> Option<Contended<'a>> {
    let of = study.experiment.contenders.get(contender)?;
    let trials: Vec<&Trial> = study.of(contender).filter(|trial| says_something(&trial.run, find)).collect();
    let seen = seen(find, &trials);
    Some(Contended { search: Search::new(find, of.unit()), name: &of.name, trials, seen })
}

/// One that was stopped may be too short to say anything.
fn says_something(run: &Run, find: &Find) -> bool {
    !run.interrupted() || run.measured_seconds() >= find.trial.least.as_secs_f64()
}

fn seen(find: &Find, trials: &[&Trial]) -> Vec<Seen> {
    let (mut left_out, mut ended) = (0.0, f64::INFINITY);
    let mut all = Vec::with_capacity(trials.len());
    for (index, trial) in trials.iter().enumerate() {
        let mut seen = brunt_search::seen(find, &trial.run, &trial.judgement);
        let pause = seen.began - ended;
        left_out += if pause > LONGEST_PAUSE_SECONDS { pause } else { 0.0 };
        ended = seen.began + lasted(&trial.run);
        seen.began -= left_out;
        seen.purpose = purpose(trials, index, find);
        all.push(seen);
    }
    all
}

/// Where it is known without asking again: an overload is cut off without grace, and what follows it shows the way back.
fn purpose(trials: &[&Trial], index: usize, find: &Find) -> Option<Purpose> {
    find.overload?;
    let cut_off = |at: usize| trials[at].run.plan.as_ref().is_some_and(|plan| plan.stop.grace.is_zero());
    match index {
        _ if cut_off(index) => Some(Purpose::Overload),
        0 => None,
        _ => cut_off(index - 1).then_some(Purpose::Recovery),
    }
}

fn lasted(run: &Run) -> f64 {
    run.finish.as_ref().map_or(run.seen_to, |finish| finish.at).0 as f64 / 1e9
}

impl Contended<'_> {
    /// How long the search has taken.
    pub fn spent(&self) -> Duration {
        let seconds = match (self.seen.first(), self.seen.last(), self.trials.last()) {
            (Some(first), Some(last), Some(trial)) => last.began + lasted(&trial.run) - first.began,
            _ => 0.0,
        };
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }

    /// What comes next.
    pub fn next(&self) -> Next {
        self.search.next(&self.seen, self.spent())
    }

    /// What is known so far; `ended` where it was stopped, whatever would have come next.
    pub fn answer(&self, ended: SearchEnd) -> Answer {
        self.search.answer(self.name, &self.seen, ended)
    }

    fn ended(&self, study: &Study) -> SearchEnd {
        match self.next() {
            Next::Done(end) => end,
            Next::Measure(_) if study.interrupted => SearchEnd::Stopped,
            Next::Measure(_) => SearchEnd::Budget,
        }
    }
}

/// The analysis of a sweep over all trials but those on the way back from an overload, with an answer for each contender.
pub fn analysis(study: &Study, find: &Find) -> Analysis {
    let all: Vec<Contended> =
        (0..study.experiment.contenders.len()).filter_map(|contender| contended(study, find, contender)).collect();
    let mut analysis = brunt_judge::sweep::analyse_study(&without_recovery(study, &all));
    let several = all.len() > 1;
    let mut findings = Vec::new();
    for (index, contended) in all.iter().enumerate() {
        if contended.seen.is_empty() {
            continue;
        }
        let mut answer = contended.answer(contended.ended(study));
        answer.bottleneck = bottleneck(contended, &answer, analysis.contenders.get(index));
        answer.sentence = brunt_search::sentence(&answer);
        findings.extend(told(&answer, find, several));
        analysis.answers.push(answer);
    }
    findings.append(&mut analysis.findings);
    Analysis { findings, ..analysis }
}

fn without_recovery(study: &Study, all: &[Contended]) -> Study {
    let mut left_out = Vec::new();
    for contended in all {
        let purposes = contended.search.purposes(&contended.seen);
        let back = contended.trials.iter().zip(purposes).filter(|(_, purpose)| *purpose == Purpose::Recovery);
        left_out.extend(back.map(|(trial, _)| trial.place));
    }
    let mut study = study.clone();
    study.trials.retain(|trial| !left_out.contains(&trial.place));
    study
}

/// What limited the server at its capacity: in the trial at the least load from there on in which anything was found; else
/// at its highest loads.
fn bottleneck(contended: &Contended, answer: &Answer, analysed: Option<&Analysed>) -> Option<Bottleneck> {
    let at = answer.capacities.first()?.at;
    let from = at.low.or(at.value)?;
    let found = |trial: &&&Trial| trial.judgement.bottleneck.as_ref().is_some_and(|b| is_the_servers(b.culprit));
    let loads = contended.trials.iter().zip(&contended.seen).filter(|(_, seen)| seen.load >= from);
    let nearest = loads.filter(|(trial, _)| found(trial)).min_by(|a, b| a.1.load.total_cmp(&b.1.load));
    let at_capacity = nearest.and_then(|(trial, _)| trial.judgement.bottleneck.clone());
    at_capacity.or_else(|| analysed?.bottleneck.clone().filter(|b| is_the_servers(b.culprit)))
}

fn is_the_servers(culprit: Culprit) -> bool {
    !matches!(culprit, Culprit::NotFound | Culprit::Generator)
}

/// What a reader should be told first: the answer, whether it is enough, and what makes it doubtful.
fn told(answer: &Answer, find: &Find, several: bool) -> Vec<Finding> {
    let whose = if several { format!("{} ", answer.contender) } else { String::new() };
    let finding = |rule: &str, weight, sentence, remedy: Option<&str>| Finding {
        rule: rule.to_owned(),
        weight,
        sentence,
        remedy: remedy.map(str::to_owned),
    };
    let mut told = vec![finding("capacity", Weight::Note, format!("{whose}{}.", answer.sentence), None)];
    let not_precise = match answer.ended {
        SearchEnd::Budget => {
            Some(("the time was over before it was known as well as asked", "give it longer: --within"))
        }
        SearchEnd::Stopped => Some(("it was stopped before it was known as well as asked", "--resume goes on with it")),
        _ => None,
    };
    told.extend(
        not_precise
            .map(|(why, remedy)| finding("capacity_imprecise", Weight::Note, format!("{whose}{why}."), Some(remedy))),
    );
    let drift = answer.drift.as_ref();
    told.extend(drift.map(|drift| {
        let remedy = Some("let it come to rest between trials (--cooldown), or restart it (plan file: find.between)");
        finding("capacity_drift", Weight::Warning, format!("{whose}{drift}."), remedy)
    }));
    told.extend(find.require.iter().map(|requirement| {
        let (weight, word) = match fulfilled(answer, requirement) {
            Fulfilled::Met => (Weight::Note, "met"),
            Fulfilled::Undecided => (Weight::Warning, "undecided: the bound lies within the interval"),
            Fulfilled::Missed => (Weight::Warning, "missed"),
        };
        finding("requirement", weight, format!("{whose}required {requirement}: {word}."), None)
    }));
    told
}

/// What all capacities of an answer make of a requirement: the worst of them.
pub fn fulfilled(answer: &Answer, requirement: &Requirement) -> Fulfilled {
    let each = answer.capacities.iter().map(|capacity| requirement.decide(&capacity.at));
    each.max().unwrap_or(Fulfilled::Undecided)
}
