//! Local variables while a script is read: which slot of which frame a name means.

use super::ast::{Name, Type};

/// The functions around the place that is read, innermost last.
#[derive(Default)]
pub(super) struct Scopes {
    functions: Vec<FunctionScope>,
}

#[derive(Default)]
struct FunctionScope {
    /// Blocks, innermost last.
    blocks: Vec<Vec<(Name, u16, Type)>>,
    slots: u16,
    /// Whether names of outer functions are out of sight: methods of classes.
    closed: bool,
}

impl Scopes {
    pub fn enter_function(&mut self, closed: Visibility) {
        let closed = closed == Visibility::OwnOnly;
        self.functions.push(FunctionScope { blocks: vec![Vec::new()], slots: 0, closed });
    }

    /// The slots that the function needs.
    pub fn leave_function(&mut self) -> u16 {
        self.functions.pop().map_or(0, |function| function.slots)
    }

    pub fn enter_block(&mut self) {
        if let Some(function) = self.functions.last_mut() {
            function.blocks.push(Vec::new());
        }
    }

    pub fn leave_block(&mut self) {
        if let Some(function) = self.functions.last_mut() {
            function.blocks.pop();
        }
    }

    /// The slot of a new variable; `None` if there are too many.
    pub fn declare(&mut self, name: &Name, ty: Type) -> Option<u16> {
        let function = self.functions.last_mut()?;
        let slot = function.slots;
        function.slots = slot.checked_add(1)?;
        function.blocks.last_mut()?.push((name.clone(), slot, ty));
        Some(slot)
    }

    /// Frames outwards, slot and type of a variable.
    pub fn find(&self, name: &str) -> Option<(u16, u16, &Type)> {
        for (depth, function) in self.functions.iter().rev().enumerate() {
            let mut own = function.blocks.iter().rev().flat_map(|block| block.iter().rev());
            if let Some((_, slot, ty)) = own.find(|(own, ..)| **own == *name) {
                return Some((depth as u16, *slot, ty));
            }
            if function.closed {
                return None;
            }
        }
        None
    }

    /// The declared type of a variable.
    pub fn type_at(&self, depth: u16, slot: u16) -> Type {
        let function = self.functions.iter().rev().nth(depth as usize);
        let mut all = function.into_iter().flat_map(|function| function.blocks.iter().flatten());
        all.find(|(_, own, _)| *own == slot).map_or(Type::Any, |(.., ty)| ty.clone())
    }

    /// How many functions stand around the place.
    pub fn depth(&self) -> usize {
        self.functions.len()
    }
}

/// What a function sees of the variables around it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    Around,
    OwnOnly,
}
