// Shows the problems of a plan: as underlines in the text, and as a list of links to their places.

import { setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { EditorView } from '@codemirror/view';
import type { Text } from '@codemirror/state';
import { h } from '../dom';
import { text } from '../texts';
import type { CheckResult, Problem } from './check';
import { endOfWord, offsetOfColumn } from './text';

/** Longest underline, in UTF-16 units: a longer one slows down the scrolling of long lines. */
const MAX_UNDERLINE = 500;

/** Position of a problem that has a line. */
function position(doc: Text, problem: Problem): { from: number; to: number } {
  const line = doc.line(Math.min(problem.line, doc.lines));
  const offset = offsetOfColumn(line.text, problem.column);
  const end = Math.min(endOfWord(line.text, offset), offset + MAX_UNDERLINE);
  return { from: line.from + offset, to: line.from + end };
}

const diagnostic = (doc: Text, { severity, message, ...place }: Problem): Diagnostic => ({
  ...position(doc, { severity, message, ...place }),
  severity,
  message,
});

function jump(view: EditorView, problem: Problem): void {
  const { from } = position(view.state.doc, problem);
  view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
  view.focus();
}

function listItem(view: EditorView, problem: Problem): HTMLElement {
  const { line, column, severity, message } = problem;
  if (line < 1) return h('li', { class: severity }, message);
  return h('li', { class: severity }, h('button', { type: 'button', onclick: () => jump(view, problem) }, `${line}:${column} ${message}`));
}

/** Shows the result of a check in the editor and in the list. */
export function showProblems(view: EditorView, list: Element | null, result: CheckResult): void {
  const problems = 'problems' in result ? result.problems : [];
  const { doc } = view.state;
  const placed = problems.filter((problem) => problem.line > 0);
  view.dispatch(setDiagnostics(view.state, placed.map((problem) => diagnostic(doc, problem))));
  const items = problems.map((problem) => listItem(view, problem));
  if ('failure' in result) items.push(h('li', { class: 'error' }, text('check-failed', { reason: result.failure })));
  list?.replaceChildren(...items);
}
