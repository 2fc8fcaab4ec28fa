//! The variables of one user.
//!
//! Those whose names the scenario holds have numbers (slots); others, which a script or an extractor names while the run goes on,
//! are kept by name.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The variable of JMeter that says whether the last sample was a success.
pub const LAST_SAMPLE_OK: &str = "JMeterThread.last_sample_ok";

/// The numbers of the variables whose names are known before the run.
#[derive(Debug, Clone, Default)]
pub struct Names {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Names {
    /// The number of a variable; a new one gets the next.
    pub fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    /// The number of a variable, where it is known.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// All of them, by number.
    pub fn all(&self) -> &[String] {
        &self.names
    }
}

/// The variables of one user.
#[derive(Debug, Clone)]
pub struct Variables {
    names: Arc<Names>,
    slots: Box<[Option<Rc<str>>]>,
    others: HashMap<Box<str>, Rc<str>>,
}

impl Variables {
    /// None has a value.
    pub fn new(names: &Arc<Names>) -> Self {
        Self { slots: vec![None; names.all().len()].into(), names: Arc::clone(names), others: HashMap::new() }
    }

    /// These have values.
    pub fn with(names: &Arc<Names>, values: &[(usize, Rc<str>)]) -> Self {
        let mut variables = Self::new(names);
        for (number, value) in values {
            variables.slots[*number] = Some(Rc::clone(value));
        }
        variables
    }

    /// Gives a variable a value, where the scenario holds its name.
    pub fn set_known(&mut self, name: &str, value: &str) {
        if let Some(number) = self.names.find(name) {
            self.set_slot(number, value);
        }
    }

    /// The value of the variable of this number.
    pub fn slot(&self, number: usize) -> Option<&str> {
        self.slots.get(number)?.as_deref()
    }

    /// Gives the variable of this number a value.
    pub fn set_slot(&mut self, number: usize, value: &str) {
        if let Some(slot) = self.slots.get_mut(number).filter(|slot| slot.as_deref() != Some(value)) {
            *slot = Some(value.into());
        }
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        match self.names.find(name) {
            Some(number) => self.slot(number),
            None => self.others.get(name).map(|value| &**value),
        }
    }

    /// Gives a variable a value.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.names.find(name) {
            Some(number) => self.set_slot(number, value),
            None => _ = self.others.insert(name.into(), value.into()),
        }
    }

    /// Takes its value from a variable.
    pub fn remove(&mut self, name: &str) {
        match self.names.find(name) {
            Some(number) => self.slots[number] = None,
            None => _ = self.others.remove(name),
        }
    }

    /// All variables that have a value, by name.
    pub fn all(&self) -> Vec<(String, String)> {
        let slots = self.names.all().iter().zip(&self.slots);
        let slots = slots.filter_map(|(name, value)| Some((name.clone(), value.as_deref()?.to_owned())));
        let mut all: Vec<_> = slots.collect();
        all.extend(self.others.iter().map(|(name, value)| (name.to_string(), value.to_string())));
        all.sort();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_other_names_are_alike() {
        let mut names = Names::default();
        assert_eq!((names.number("a"), names.number("b"), names.number("a")), (0, 1, 0));
        let mut variables = Variables::new(&Arc::new(names));
        assert_eq!((variables.get("a"), variables.get("other")), (None, None));
        variables.set("a", "1");
        variables.set("other", "2");
        variables.set_slot(1, "3");
        assert_eq!((variables.slot(0), variables.get("other"), variables.get("b")), (Some("1"), Some("2"), Some("3")));
        let all: Vec<String> = variables.all().into_iter().map(|(name, value)| name + "=" + &value).collect();
        assert_eq!(all, ["a=1", "b=3", "other=2"]);
        variables.remove("a");
        variables.remove("other");
        assert_eq!((variables.get("a"), variables.get("other")), (None, None));
    }
}
