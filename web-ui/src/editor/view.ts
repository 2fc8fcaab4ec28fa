// Creates the editor in a shadow root: its extensions, its keys and its label.

import { autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { xml } from '@codemirror/lang-xml';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, indentService, indentUnit } from '@codemirror/language';
import { lintGutter, lintKeymap } from '@codemirror/lint';
import { search, searchKeymap } from '@codemirror/search';
import { EditorState, type ChangeDesc, type Extension } from '@codemirror/state';
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, tooltips } from '@codemirror/view';
import { h } from '../dom';
import { text } from '../texts';
import { completionSource, keyDescriptions, type SchemaSource } from './assist';
import { phrases } from './phrases';
import { HOST_STYLES, syntaxColors, theme } from './theme';
import { nestingDepth, tagDepth } from './text';
import { indentationAfter } from './yaml';

export interface EditorOptions {
  text: string;
  label: string;
  language: 'yaml' | 'xml';
  schema: SchemaSource | null;
  onChange: (changes: ChangeDesc) => void;
  /** The cursor has moved, or the text has changed before it. */
  onCursor: () => void;
}

/** Indents the line after a key without a value; the parser of YAML does not. */
const indentation = indentService.of((context, position) => {
  const line = context.state.doc.lineAt(position);
  return indentationAfter(line.text.slice(0, position - line.from), context.unit) ?? undefined;
});

const assistance = (schema: SchemaSource | null): Extension =>
  schema ? [autocompletion({ override: [completionSource(schema)], icons: false }), keyDescriptions(schema)] : [];

/** Deepest nesting with highlighting. */
const MAX_NESTING = 1000;
/** Margin between tooltips and the edges of the window, in pixels. */
const MARGIN = 8;

const tooltipSpace = () => {
  const { clientWidth, clientHeight } = document.documentElement;
  return { left: MARGIN, right: clientWidth - MARGIN, top: MARGIN, bottom: clientHeight - MARGIN };
};

/** Highlighting and indentation of a plan file. */
function language({ language, text: plan }: EditorOptions): Extension {
  // The parsers work in slices of some 10 ms, so a line of 600 kB needs no limit. Their trees are built by recursion, though:
  // thousands of nested levels exceed the stack, and each change would fail.
  if (language === 'xml') return tagDepth(plan) > MAX_NESTING ? [] : xml();
  return [indentation, nestingDepth(plan) > MAX_NESTING ? [] : yaml()];
}

const extensions = (options: EditorOptions): Extension => [
  lineNumbers(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  lintGutter(),
  history(),
  drawSelection(),
  bracketMatching(),
  indentUnit.of('  '),
  language(options),
  syntaxColors,
  search({ top: true }),
  tooltips({ tooltipSpace }),
  EditorState.phrases.of(phrases()),
  assistance(options.schema),
  keymap.of([...completionKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, ...defaultKeymap, indentWithTab]),
  theme,
  EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': options.label, 'aria-describedby': 'hint' }),
  EditorView.updateListener.of((update) => {
    if (update.docChanged) options.onChange(update.changes.desc);
    if (update.selectionSet || update.docChanged) options.onCursor();
  }),
];

/** Creates an editor after an element. Its styles are in a shadow root, because the content policy admits no inline styles. */
export function createEditor(after: Element, options: EditorOptions): EditorView {
  const host = h('div', { class: 'editor' });
  const root = host.attachShadow({ mode: 'open' });
  const styles = new CSSStyleSheet();
  styles.replaceSync(HOST_STYLES);
  root.adoptedStyleSheets = [styles];
  const frame = h('div', { class: 'frame' });
  root.append(frame, h('p', { class: 'hint', id: 'hint' }, text('text-keys')));
  after.after(host);
  const state = EditorState.create({ doc: options.text, extensions: extensions(options) });
  return new EditorView({ state, parent: frame, root });
}
