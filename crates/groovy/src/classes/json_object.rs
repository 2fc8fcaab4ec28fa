use super::Class;
pub(super) static CLASSES: &[Class] = &[];
