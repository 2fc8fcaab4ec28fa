// Colors of the editor. The custom properties of the page are inherited into the shadow root, so the editor follows its theme.

import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const tint = (color: string, share: number): string => `color-mix(in srgb, var(${color}) ${share}%, transparent)`;

/** Wavy line below a problem, in place of CodeMirror's images, whose colors are fixed. */
const underline = (color: string): Record<string, string> => ({
  backgroundImage: 'none',
  paddingBottom: '0',
  textDecoration: `underline wavy var(${color}) 1px`,
  textUnderlineOffset: '3px',
});

const marker = (color: string): Record<string, string> => ({
  content: '""',
  width: '0.6em',
  height: '0.6em',
  margin: '0.2em 0.1em',
  borderRadius: '50%',
  background: `var(${color})`,
});

const text = EditorView.theme({
  // A line has a height of 21 px: with a fraction, line numbers and lines differ after 100,000 lines.
  '&': { color: 'var(--ink)', backgroundColor: 'var(--page)', fontSize: '0.875rem', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: tint('--accent', 25),
  },
  '.cm-gutters': { color: 'var(--muted)', backgroundColor: 'var(--raised)', borderRight: '1px solid var(--rule)' },
  '.cm-activeLine': { backgroundColor: tint('--muted', 8) },
  '.cm-activeLineGutter': { color: 'var(--ink)', backgroundColor: tint('--muted', 14) },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: tint('--good', 30) },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: tint('--bad', 30) },
  '.cm-searchMatch': { backgroundColor: tint('--line-4', 35) },
  '.cm-searchMatch.cm-searchMatch-selected': { backgroundColor: tint('--line-1', 55) },
});

const panels = EditorView.theme({
  '.cm-panels': { color: 'var(--ink)', backgroundColor: 'var(--raised)' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--rule)' },
  '.cm-textfield, .cm-button': {
    font: 'inherit',
    color: 'var(--ink)',
    background: 'var(--page)',
    border: '1px solid var(--rule)',
    borderRadius: '4px',
  },
  '.cm-button:hover': { borderColor: 'var(--muted)' },
  '.cm-button:active': { background: 'var(--raised)' },
  '.cm-panel.cm-search': { fontFamily: 'var(--font)', paddingRight: '2rem' },
  '.cm-panel.cm-search [name=close]': { fontSize: '1.4rem', right: '0.5rem', color: 'var(--muted)' },
});

const tooltips = EditorView.theme({
  '.cm-tooltip': {
    color: 'var(--ink)',
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--rule)',
    borderRadius: '4px',
    boxShadow: '0 2px 8px rgb(0 0 0 / 20%)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.1rem 0.5rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': { color: 'var(--page)', backgroundColor: 'var(--accent)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-tooltip.cm-completionInfo': { padding: '0.4rem 0.6rem', maxWidth: 'min(26rem, 70vw)' },
  '.description': { maxWidth: 'min(32rem, 80vw)', whiteSpace: 'pre-line', fontFamily: 'var(--font)', lineHeight: '1.4' },
  '.cm-tooltip-hover .description': { padding: '0.4rem 0.6rem' },
  '.description code': { fontFamily: 'var(--mono)', fontSize: '0.95em' },
});

const problems = EditorView.theme({
  '.cm-lintRange-error': underline('--bad'),
  '.cm-lintRange-warning': underline('--warn'),
  '.cm-lintPoint-error:after': { borderBottomColor: 'var(--bad)' },
  '.cm-lintPoint-warning:after': { borderBottomColor: 'var(--warn)' },
  '.cm-lint-marker-error': marker('--bad'),
  '.cm-lint-marker-warning': marker('--warn'),
  '.cm-diagnostic': { fontFamily: 'var(--font)', maxWidth: 'min(32rem, 80vw)', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
});

const highlighting = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--line-0)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.labelName, tags.typeName, tags.keyword, tags.meta], color: 'var(--line-6)' },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace], color: 'var(--muted)' },
]);

export const theme = [text, panels, tooltips, problems];
export const syntaxColors = syntaxHighlighting(highlighting);

/** Styles outside of the editor's element, for the shadow root. */
export const HOST_STYLES = `
:host { display: block; }
.frame { height: 34rem; max-height: 75vh; min-height: 8rem; overflow: hidden; resize: vertical;
  border: 1px solid var(--rule); border-radius: 4px; }
.frame:focus-within { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.hint { margin: 0.3rem 0 0; color: var(--muted); font-size: 0.85rem; }
`;
