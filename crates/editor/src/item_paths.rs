//! Paths of the items of lists, and their changes when items are inserted and removed.

/// The notation of an item in a path: `[2]` in plan files, `.2` in plans of `JMeter`.
#[derive(Debug, Clone, Copy)]
pub struct ItemPaths {
    /// Text before the index.
    pub open: &'static str,
    /// Text after the index.
    pub close: &'static str,
}

impl ItemPaths {
    /// Paths of items that were inserted at an index of a list.
    pub fn inserted(self, list: &str, index: usize, count: usize) -> Vec<String> {
        (index..index + count).map(|index| self.item(list, index)).collect()
    }

    /// Returns the paths of items after copies of them were inserted at an index of a list, and the paths of the copies after
    /// the items were removed. The items are in the order of the text.
    pub fn moved(self, items: &[String], list: &str, index: usize) -> (Vec<String>, Vec<String>) {
        let originals: Vec<String> = items
            .iter()
            .map(|item| {
                let shift = |old| if old >= index { old + items.len() } else { old };
                self.with_index(item, list, shift)
            })
            .collect();
        let mut copies = self.inserted(list, index, items.len());
        // The last one first, because a removal changes only the indices after it.
        for original in originals.iter().rev() {
            copies = copies.iter().map(|copy| self.after_removal(copy, original)).collect();
        }
        (originals, copies)
    }

    fn item(self, list: &str, index: usize) -> String {
        let Self { open, close } = self;
        format!("{list}{open}{index}{close}")
    }

    /// The path of an element after an item of a list was removed.
    fn after_removal(self, path: &str, removed: &str) -> String {
        let item = removed.strip_suffix(self.close).and_then(|item| item.rsplit_once(self.open));
        let Some((list, removed)) = item else { return path.to_owned() };
        let removed: usize = removed.parse().unwrap_or(usize::MAX);
        self.with_index(path, list, |old| if old > removed { old - 1 } else { old })
    }

    /// The path with another index in a list, if it leads through the list.
    fn with_index(self, path: &str, list: &str, change: impl Fn(usize) -> usize) -> String {
        let rest = path.strip_prefix(list).and_then(|rest| rest.strip_prefix(self.open));
        let Some(rest) = rest else { return path.to_owned() };
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        match rest[..digits].parse() {
            // The rest begins with the text after the index.
            Ok(index) => format!("{list}{}{}{}", self.open, change(index), &rest[digits..]),
            Err(_) => path.to_owned(),
        }
    }
}

/// True if a path is another one, or leads through it.
pub fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_items_that_move() {
        let yaml = ItemPaths { open: "[", close: "]" };
        let items = ["a[0]".to_owned(), "a[1]".to_owned()];
        let expected = (items.to_vec(), vec!["a[1]".to_owned(), "a[2]".to_owned()]);
        assert_eq!(yaml.moved(&items, "a", 3), expected);
        let items = ["a[0]".to_owned()];
        let expected = (items.to_vec(), vec!["a[1].b[0]".to_owned()]);
        assert_eq!(yaml.moved(&items, "a[2].b", 0), expected);
        let jmx = ItemPaths { open: ".", close: "" };
        let items = ["0.3".to_owned(), "0.12".to_owned()];
        let originals = vec!["0.5".to_owned(), "0.14".to_owned()];
        assert_eq!(
            jmx.moved(&items, "0", 1),
            (originals, vec!["0.1".to_owned(), "0.2".to_owned()])
        );
        assert!(is_within("0.1.2", "0.1") && !is_within("0.12", "0.1"));
    }
}
