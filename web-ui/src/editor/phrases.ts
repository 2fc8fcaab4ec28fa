// Texts of CodeMirror in the language of the page, by their English originals.

import { text } from '../texts';

/** All texts of the editor's panels and announcements. `$` is a value that CodeMirror inserts. */
export const phrases = (): Record<string, string> => ({
  Find: text('search-find'),
  Replace: text('search-replace-with'),
  next: text('search-next'),
  previous: text('search-previous'),
  all: text('search-all'),
  'match case': text('search-match-case'),
  regexp: text('search-regexp'),
  'by word': text('search-by-word'),
  replace: text('search-replace'),
  'replace all': text('search-replace-all'),
  close: text('search-close'),
  'current match': text('search-current-match'),
  'on line': text('search-on-line'),
  'replaced match on line $': text('search-replaced-match'),
  'replaced $ matches': text('search-replaced-matches'),
  'Go to line': text('text-go-to-line'),
  go: text('text-go'),
  'Selection deleted': text('text-selection-deleted'),
  Completions: text('text-completions'),
  Diagnostics: text('text-problems'),
  'No diagnostics': text('text-no-problems'),
});
