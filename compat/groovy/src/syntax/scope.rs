//! Resolves local variables during parsing: the frame and slot of each name.

use super::ast::{Name, Type};

/// Functions around the current position, innermost last.
#[derive(Default)]
pub(super) struct Scopes {
    functions: Vec<FunctionScope>,
}

#[derive(Default)]
struct FunctionScope {
    /// Variables of each block, innermost block last.
    blocks: Vec<Vec<(Name, u16, Type)>>,
    slots: u16,
    /// True if variables of outer functions are not visible, as in methods of classes.
    closed: bool,
}

impl Scopes {
    pub fn enter_function(&mut self, visibility: Visibility) {
        let closed = visibility == Visibility::OwnOnly;
        self.functions.push(FunctionScope { blocks: vec![Vec::new()], slots: 0, closed });
    }

    /// Leaves a function. Returns its number of slots.
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

    /// Returns the slot of a new variable; `None` if there are too many.
    pub fn declare(&mut self, name: &Name, ty: Type) -> Option<u16> {
        let function = self.functions.last_mut()?;
        let slot = function.slots;
        function.slots = slot.checked_add(1)?;
        function.blocks.last_mut()?.push((name.clone(), slot, ty));
        Some(slot)
    }

    /// Finds a variable: number of frames outwards, slot and type.
    pub fn find(&self, name: &str) -> Option<(u16, u16, &Type)> {
        for (depth, function) in self.functions.iter().rev().enumerate() {
            let mut variables = function.blocks.iter().rev().flat_map(|block| block.iter().rev());
            if let Some((_, slot, ty)) = variables.find(|(variable, ..)| **variable == *name) {
                return Some((depth as u16, *slot, ty));
            }
            if function.closed {
                return None;
            }
        }
        None
    }

    /// Declared type of a variable.
    pub fn type_at(&self, depth: u16, slot: u16) -> Type {
        let function = self.functions.iter().rev().nth(depth as usize);
        let mut all = function.into_iter().flat_map(|function| function.blocks.iter().flatten());
        all.find(|(_, variable_slot, _)| *variable_slot == slot)
            .map_or(Type::Any, |(.., ty)| ty.clone())
    }

    /// Number of functions around the current position.
    pub fn depth(&self) -> usize {
        self.functions.len()
    }
}

/// Access of a function to the variables of outer functions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    Enclosing,
    OwnOnly,
}
