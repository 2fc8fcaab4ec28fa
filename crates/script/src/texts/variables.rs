//! Stores the variables of one user.
//!
//! Variables with a name in the scenario have numbers (slots). Others, which a script or an
//! extractor names during the run, are stored by name.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Name of JMeter's variable with the success of the last sample.
pub const LAST_SAMPLE_OK: &str = "JMeterThread.last_sample_ok";

/// Numbers of the variables with names that are known before the run.
#[derive(Debug, Clone, Default)]
pub struct VariableNames {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl VariableNames {
    /// Returns the number of a variable; a new one gets the next number.
    pub fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    /// Returns the number of a variable, if it is known.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// Returns all names, by number.
    pub fn all(&self) -> &[String] {
        &self.names
    }
}

/// The variables of one user.
#[derive(Debug, Clone)]
pub struct Variables {
    names: Arc<VariableNames>,
    slots: Box<[Option<Rc<str>>]>,
    others: HashMap<Box<str>, Rc<str>>,
}

impl Variables {
    /// Creates variables without values.
    pub fn new(names: &Arc<VariableNames>) -> Self {
        Self {
            slots: vec![None; names.all().len()].into(),
            names: Arc::clone(names),
            others: HashMap::new(),
        }
    }

    /// Creates variables with these values.
    pub fn with(names: &Arc<VariableNames>, values: &[(usize, Rc<str>)]) -> Self {
        let mut variables = Self::new(names);
        for (number, value) in values {
            variables.slots[*number] = Some(Rc::clone(value));
        }
        variables
    }

    /// Sets a variable, if its name is in the scenario.
    pub fn set_known(&mut self, name: &str, value: &str) {
        if let Some(number) = self.names.find(name) {
            self.set_slot(number, value);
        }
    }

    /// Returns the value of the variable of this number.
    pub fn slot(&self, number: usize) -> Option<&str> {
        self.slots.get(number)?.as_deref()
    }

    /// Sets the variable of this number.
    pub fn set_slot(&mut self, number: usize, value: &str) {
        // An unchanged value needs no allocation.
        if let Some(slot) = self.slots.get_mut(number).filter(|slot| slot.as_deref() != Some(value))
        {
            *slot = Some(value.into());
        }
    }

    /// Returns the value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        match self.names.find(name) {
            Some(number) => self.slot(number),
            None => self.others.get(name).map(|value| &**value),
        }
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.names.find(name) {
            Some(number) => self.set_slot(number, value),
            None => _ = self.others.insert(name.into(), value.into()),
        }
    }

    /// Removes the value of a variable.
    pub fn remove(&mut self, name: &str) {
        match self.names.find(name) {
            Some(number) => self.slots[number] = None,
            None => _ = self.others.remove(name),
        }
    }

    /// Returns all variables with a value, sorted by name.
    pub fn all(&self) -> Vec<(String, String)> {
        let slots = self.names.all().iter().zip(&self.slots);
        let slots =
            slots.filter_map(|(name, value)| Some((name.clone(), value.as_deref()?.to_owned())));
        let mut all: Vec<_> = slots.collect();
        all.extend(self.others.iter().map(|(name, value)| (name.to_string(), value.to_string())));
        all.sort();
        all
    }
}

/// Notes variables that had no value when they were filled in: a request with such a text is not sent.
///
/// Variables of JMeter are not noted, because JMeter sends their expressions.
#[derive(Debug, Default)]
pub struct UnsetVariables {
    /// The last one in any text.
    in_text: Cell<Option<usize>>,
    /// The first one in the texts of the current request.
    in_request: Cell<Option<usize>>,
}

impl UnsetVariables {
    /// Notes a variable by its number.
    pub fn note(&self, number: usize) {
        self.in_text.set(Some(number));
    }

    /// Fills in a text of which an unset variable has no effect, such as a condition.
    pub fn ignored<T>(&self, fill: impl FnOnce() -> T) -> T {
        let before = self.in_text.get();
        let text = fill();
        self.in_text.set(before);
        text
    }

    /// Fills in a text of the current request.
    pub fn of_request<T>(&self, fill: impl FnOnce() -> T) -> T {
        self.in_text.set(None);
        let text = fill();
        self.in_request.set(self.in_request.get().or(self.in_text.take()));
        text
    }

    /// Returns the first variable that the current request lacks, and ends it.
    pub fn take(&self) -> Option<usize> {
        self.in_request.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_and_other_names_behave_the_same() {
        let mut names = VariableNames::default();
        assert_eq!((names.number("a"), names.number("b"), names.number("a")), (0, 1, 0));
        let mut variables = Variables::new(&Arc::new(names));
        assert_eq!((variables.get("a"), variables.get("other")), (None, None));
        variables.set("a", "1");
        variables.set("other", "2");
        variables.set_slot(1, "3");
        assert_eq!(
            (variables.slot(0), variables.get("other"), variables.get("b")),
            (Some("1"), Some("2"), Some("3"))
        );
        let all: Vec<String> =
            variables.all().into_iter().map(|(name, value)| name + "=" + &value).collect();
        assert_eq!(all, ["a=1", "b=3", "other=2"]);
        variables.remove("a");
        variables.remove("other");
        assert_eq!((variables.get("a"), variables.get("other")), (None, None));
    }
}
