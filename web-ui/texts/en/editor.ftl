### Texts of the editor of plans: tree, forms, toolbar, text. The Chinese ones are in ../zh/editor.ftl, with the same ids and arguments.
### Descriptions of settings and kinds, labels of lists and problems of the plan come from the server.

## Replies of the server

server-status = The server replied with status { $status }.
server-reply-not-json = The reply of the server is not JSON.
server-no-reply = There is no response from the server.
server-reply-incomplete = The reply of the server has no `problems`.
check-failed = The text could not be checked. { $reason }
change-unchecked = The change was not applied, because the text could not be checked. { $reason }
change-unreadable = The text has an error, so elements cannot be changed. Correct the text first.
change-mismatch = The reply of the server does not fit the text. Nothing has changed.
change-failed = The change was not applied because of an error in this page. Load the page again.

## Tree

tree-label = Elements of the plan
tree-outdated = The text has an error; the tree shows the last readable version.
tree-empty = The text has an error. Correct it to see the elements of the plan.
tree-disabled-element = disabled
tree-keys = Enter edits the element. Space selects several, Ctrl+A selects its siblings, then all elements. Ctrl+C, Ctrl+X and Ctrl+V copy, cut and paste. Ctrl+F searches the text.

## Commands

toolbar-label = Commands for elements
toolbar-add = Add…
toolbar-button = { $label } ({ $key })
command-add = Add
command-duplicate = Duplicate
command-move-up = Move up
command-move-down = Move down
command-disable = Disable
command-enable = Enable
command-enable-or-disable = Enable or disable
command-remove = Remove
command-move = Move
command-paste = Paste
command-undo = Undo
command-redo = Redo

## Results of commands, for screen readers

status-done = { $count ->
    [one] { $command }: { $count } element
   *[other] { $command }: { $count } elements
}
status-copied = { $count ->
    [one] { $count } element copied
   *[other] { $count } elements copied
}
status-cut = { $count ->
    [one] { $count } element cut; paste to move
   *[other] { $count } elements cut; paste to move
}
status-not-copyable = The element cannot be copied or cut.
status-clipboard-empty = Nothing to paste. Copy or cut an element first.
status-not-pasted = The elements cannot be pasted here.
status-not-moved = The element cannot be moved further.
status-not-duplicated = The element cannot be duplicated.
status-not-removed = The element cannot be removed.
status-not-disabled = The element cannot be disabled.
status-undone = Undone
status-redone = Redone
status-nothing-to-undo = Nothing to undo
status-nothing-to-redo = Nothing to redo

## Menu of kinds

add-label = Add an element
add-filter = Filter kinds of elements
add-impossible = No element can be added here.
add-no-match = No kind matches the filter.

## Form

form-label = Settings of the element
form-selection = { $count ->
    [one] { $count } element is selected. The commands above the tree apply to it.
   *[other] { $count } elements are selected. The commands above the tree apply to all of them.
}
form-empty = This element has no settings.
form-further-settings = { $count ->
    [one] { $count } further setting
   *[other] { $count } further settings
}
form-filter = Filter settings
form-no-match = No setting matches the filter.
setting-required = required
setting-default = default: { $value }
setting-unset = (not set)
setting-unset-default = (not set; default: { $value })
setting-format-list = one value per line
setting-format-pairs = one per line, as name: value
setting-format-yaml = YAML
setting-remove = Remove { $name }
setting-more = More
setting-less = Less
setting-truncated = The value is too long for a form. This is its beginning.
setting-edit-in-text = Edit in the text

## Load over time

load-title = Load
load-curve-title = { $name }, { $unit }
load-curve = { $unit } over { $duration }: { $low } to { $high }
load-curve-of = { $name }: { $unit } over { $duration }: { $low } to { $high }

## Text

text-label = Plan
text-keys = Tab indents. To leave the editor with the keyboard, press Escape, then Tab. Ctrl-Space completes, Ctrl-F searches.
search-find = Find
search-replace-with = Replace
search-next = next
search-previous = previous
search-all = all
search-match-case = match case
search-regexp = regexp
search-by-word = by word
search-replace = replace
search-replace-all = replace all
search-close = close
search-current-match = current match
search-on-line = on line
search-replaced-match = replaced match on line $
search-replaced-matches = replaced $ matches
text-go-to-line = Go to line
text-go = go
text-selection-deleted = Selection deleted
text-completions = Completions
text-problems = Diagnostics
text-no-problems = No diagnostics
