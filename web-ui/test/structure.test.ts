import { ChangeSet, Text } from '@codemirror/state';
import { expect, test, vi } from 'vitest';
import { CheckSchedule, checkResult, type CheckResult } from '../src/editor/check';
import { duplicateEdits, enableEdits, moveEdits, pasteEdits, removeEdits } from '../src/editor/commands';
import { duration, timeTicks } from '../src/editor/curves';
import { firstSentence } from '../src/editor/field-input';
import { Outline, dropPlace, pastePlace, visibleNodes, type PlanElement } from '../src/editor/outline';
import { TreeSelection } from '../src/editor/selection';
import { tagDepth } from '../src/editor/text';
import { currentPath, rebasedPath } from '../src/editor/tracking';
import type { TreeRow } from '../src/editor/tree';
import { commandOf, historyCommand, isSelectAll, movement, pathsOfAll, typedRow, type KeyPress } from '../src/editor/tree-keys';

/** A step `title` on each line; its indentation is its level. Elements with `{` on a line are steps on the same line. */
function outlineOf(text: string): Outline {
  const lines = text.split('\n');
  const element = (path: string, title: string, line: number, list: string | null, index: number): PlanElement => ({
    path, kind: 'get', title, line, end_line: line, enabled: !title.startsWith('#'), type: 'step', list, index, lists: [{ path: `${path}.steps`, type: 'step' }], children: [],
  });
  const root = { ...element('', 'plan', 1, null, 0), kind: 'plan', type: 'plan', end_line: lines.length, lists: [{ path: '.steps', type: 'step' }, { path: '.data', type: 'data' }] };
  const open = [{ element: root, indent: -1 }];
  lines.forEach((line, i) => {
    for (const title of line.trim().split(' ').filter(Boolean)) {
      const indent = line.search(/\S/);
      while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
      const parent = open.at(-1)?.element ?? root;
      const index = parent.children.length;
      const child = element(`${parent.path}.steps[${index}]`, title, i + 1, `${parent.path}.steps`, index);
      parent.children.push(child);
      for (const around of open) around.element.end_line = Math.max(around.element.end_line, i + 1);
      open.push({ element: child, indent });
    }
  });
  return new Outline(root);
}

const TEXT = 'a\n  b\n  c\nd\n#e';
const outline = outlineOf(TEXT);
const A = '.steps[0]';
const B = '.steps[0].steps[0]';
const C = '.steps[0].steps[1]';
const D = '.steps[1]';
const E = '.steps[2]';
const rowsOf = (all: Outline, isExpanded = (): boolean => true): TreeRow[] =>
  visibleNodes(all, isExpanded).map((node) => ({ node, isExpanded: node.element.children.length > 0 ? isExpanded() : null }));
const press = (key: string, modifiers: Partial<KeyPress> = {}): KeyPress => ({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...modifiers });

test('the innermost element of a line is found', () => {
  expect([1, 2, 3, 4, 99].map((line) => outline.atLine(line).path)).toEqual([A, B, C, D, '']);
});

test('only elements in expanded elements are visible', () => {
  const titles = (isExpanded: (path: string) => boolean) => visibleNodes(outline, (node) => isExpanded(node.element.path)).map((node) => node.element.title);
  expect(titles(() => true)).toEqual(['plan', 'a', 'b', 'c', 'd', '#e']);
  expect(titles((path) => path === '')).toEqual(['plan', 'a', 'd', '#e']);
  expect(titles((path) => path !== '')).toEqual(['plan']);
});

test('as many levels are expanded at first as have few rows', () => {
  expect(outline.levelsFor(100)).toBe(2);
  expect(outline.levelsFor(5)).toBe(1);
  expect(outline.levelsFor(1)).toBe(1);
  expect(outlineOf('').levelsFor(100)).toBe(0);
});

test('nodes know their place among their siblings', () => {
  expect(outline.node(C)).toMatchObject({ level: 3, position: 2, siblings: 2 });
  expect(outline.isWithin(B, A)).toBe(true);
  expect(outline.isWithin(B, D)).toBe(false);
  expect(outline.topmost([C, A, D]).map(({ path }) => path)).toEqual([A, D]);
});

test('indexes of moves count in the list before the move', () => {
  expect(moveEdits(outline, [D], -1)).toEqual([{ op: 'move', paths: [D], list: '.steps', index: 0 }]);
  expect(moveEdits(outline, [A], 1)).toEqual([{ op: 'move', paths: [A], list: '.steps', index: 2 }]);
  expect(moveEdits(outline, [A, D], 1)).toEqual([{ op: 'move', paths: [A, D], list: '.steps', index: 3 }]);
  expect(moveEdits(outline, [A], -1)).toEqual([]);
  expect(moveEdits(outline, [E], 1)).toEqual([]);
  expect(moveEdits(outline, [B, D], 1)).toEqual([]);
  expect(moveEdits(outline, [''], 1)).toEqual([]);
});

test('commands apply to all selected elements', () => {
  expect(duplicateEdits(outline, [C, D])).toEqual([
    { op: 'copy', paths: [C], list: '.steps[0].steps', index: 2 },
    { op: 'copy', paths: [D], list: '.steps', index: 2 },
  ]);
  expect(removeEdits(outline, [B, D])).toEqual([{ op: 'remove', paths: [B, D] }]);
  expect(removeEdits(outline, [''])).toEqual([]);
  expect(enableEdits(outline, [D, E])).toEqual([{ op: 'enable', paths: [D], enabled: false }]);
  expect(enableEdits(outline, [E])).toEqual([{ op: 'enable', paths: [E], enabled: true }]);
});

test('elements are pasted after an element of their type, or into one that holds their type', () => {
  const target = outline.element(D) as PlanElement;
  expect(pastePlace(target, new Set(['step']))).toEqual({ list: '.steps', index: 2 });
  expect(pastePlace(outline.root, new Set(['step']))).toEqual({ list: '.steps', index: 3 });
  expect(pastePlace(target, new Set(['data']))).toBeNull();
  expect(pasteEdits(outline, { op: 'copy', paths: [B] }, target)).toEqual([{ op: 'copy', paths: [B], list: '.steps', index: 2 }]);
  expect(pasteEdits(outline, { op: 'move', paths: [A] }, outline.element(B) as PlanElement)).toEqual([]);
});

test('the place to drop depends on the position within the row', () => {
  const target = outline.element(D) as PlanElement;
  expect(dropPlace(outline, [B], target, 0.1, false)).toEqual({ list: '.steps', index: 1, side: 'before' });
  expect(dropPlace(outline, [B], target, 0.9, false)).toEqual({ list: '.steps', index: 2, side: 'after' });
  expect(dropPlace(outline, [B], target, 0.5, false)).toEqual({ list: '.steps[1].steps', index: 0, side: 'into' });
  expect(dropPlace(outline, [D], outline.element(A) as PlanElement, 0.9, true)).toEqual({ list: '.steps[0].steps', index: 0, side: 'after' });
  expect(dropPlace(outline, [A], outline.element(B) as PlanElement, 0.5, false)).toBeNull();
  expect(dropPlace(outline, [''], target, 0.5, false)).toBeNull();
});

test('elements are found again after a change of the text', () => {
  const doc = Text.of(TEXT.split('\n'));
  const follow = (changes: ChangeSet, path: string) =>
    currentPath({ outline, doc, changes: changes.desc }, changes.apply(doc), outlineOf(changes.apply(doc).toString()), path);
  const insertion = ChangeSet.of({ from: 0, insert: 'new\n' }, doc.length);
  expect([A, C, D].map((path) => follow(insertion, path))).toEqual(['.steps[1]', '.steps[1].steps[1]', '.steps[2]']);
  const rename = ChangeSet.of({ from: 0, to: 1, insert: 'x' }, doc.length);
  expect([A, C].map((path) => follow(rename, path))).toEqual([A, C]);
  const move = ChangeSet.of([{ from: 0, insert: 'd\n' }, { from: 10, to: 12 }], doc.length);
  expect([A, D].map((path) => follow(move, path))).toEqual([D, A]);
  // Of two elements with one title, the second gets another one.
  const twice = Text.of(['home', 'home']);
  const retitled = ChangeSet.of({ from: 5, to: 9, insert: 'copy' }, twice.length);
  const snapshot = { outline: outlineOf('home\nhome'), doc: twice, changes: retitled.desc };
  expect(currentPath(snapshot, retitled.apply(twice), outlineOf('home\ncopy'), '.steps[1]')).toBe('.steps[1]');
  expect(rebasedPath('.steps[1].get', '.steps[1]', '.steps[2]')).toBe('.steps[2].get');
  expect(rebasedPath('name:.steps[1]', '.steps[1]', '.steps[2]')).toBe('name:.steps[2]');
  expect(rebasedPath('.steps', '.steps[1]', '.steps[2]')).toBe('.steps');
  expect(rebasedPath('.vars', '', '')).toBe('.vars');
});

test('elements on one line are distinguished by their order', () => {
  const before = outlineOf('g g g');
  const doc = Text.of(['g g g']);
  const changes = ChangeSet.of({ from: 0, insert: 'new\n' }, doc.length);
  const after = outlineOf('new\ng g g');
  const paths = ['.steps[0]', '.steps[1]', '.steps[2]'].map((path) => currentPath({ outline: before, doc, changes: changes.desc }, changes.apply(doc), after, path));
  expect(paths).toEqual(['.steps[1]', '.steps[2]', '.steps[3]']);
});

test('the selection follows renamed elements, and removed ones leave it', () => {
  const selection = new TreeSelection();
  selection.rename(outline, (path) => path);
  selection.select(A);
  selection.extend(D, [A, B, C, D]);
  expect([...selection.paths]).toEqual([A, B, C, D]);
  selection.rename(outline, (path) => (path === D ? '.steps[9]' : path));
  expect([...selection.paths]).toEqual([A, B, C]);
  selection.toggle(B);
  expect([...selection.paths]).toEqual([A, C]);
  selection.selectAll([C, D]);
  expect(selection.active).toBe(C);
});

test('keys stand for commands', () => {
  expect(commandOf(press('d', { ctrlKey: true }))).toBe('duplicate');
  expect(commandOf(press('Z', { ctrlKey: true, shiftKey: true }))).toBe('redo');
  expect(commandOf(press('z', { metaKey: true }))).toBe('undo');
  expect(commandOf(press('ArrowUp', { altKey: true }))).toBe('moveUp');
  expect(commandOf(press('e'))).toBe('toggleEnabled');
  expect(commandOf(press('e', { ctrlKey: true, altKey: true }))).toBeNull();
  expect(historyCommand(press('f', { ctrlKey: true }))).toBe('search');
  expect(historyCommand(press('c', { ctrlKey: true }))).toBeNull();
});

test('Ctrl+A selects the siblings, then all visible elements without the root', () => {
  expect(['a', 'A', 'b'].map((key) => isSelectAll(press(key, { ctrlKey: true })))).toEqual([true, true, false]);
  expect(isSelectAll(press('a', { metaKey: true }))).toBe(true);
  expect(isSelectAll(press('a', { ctrlKey: true, shiftKey: true }))).toBe(false);
  expect(isSelectAll(press('a'))).toBe(false);
  const rows = rowsOf(outline);
  expect(pathsOfAll(rows, B, new Set([B]))).toEqual([B, C]);
  expect(pathsOfAll(rows, D, new Set([D, B]))).toEqual([A, D, E]);
  expect(pathsOfAll(rows, D, new Set([A, D, E]))).toEqual([A, B, C, D, E]);
  expect(pathsOfAll(rows, B, new Set([A, B, C, D, E]))).toEqual([A, B, C, D, E]);
  expect(pathsOfAll(rows, '', new Set(['']))).toEqual([A, B, C, D, E]);
  const collapsed = visibleNodes(outline, (node) => node.element.path === '').map((node) => ({ node, isExpanded: null }));
  expect(pathsOfAll(collapsed, '', new Set(['']))).toEqual([A, D, E]);
  expect(pathsOfAll(rowsOf(outlineOf('')), '', new Set(['']))).toEqual([]);
});

test('arrow keys move between rows', () => {
  const rows = rowsOf(outline);
  expect(['ArrowDown', 'ArrowUp', 'Home', 'End', 'PageDown'].map((key) => movement(key, 2, rows, 3))).toEqual([3, 1, 0, 5, 5]);
  expect(movement('ArrowRight', 1, rows, 3)).toBe(2);
  expect(movement('ArrowRight', 2, rows, 3)).toBeNull();
  expect(movement('ArrowLeft', 2, rows, 3)).toBe(1);
  expect(movement('ArrowLeft', 1, rows, 3)).toBeNull();
  expect(typedRow('c', 0, rows)).toBe(3);
  expect(typedRow('a', 1, rows)).toBe(1);
  expect(typedRow('ge', 1, rows)).toBe(1);
  expect(typedRow('z', 1, rows)).toBeNull();
});

test('durations and their ticks are round', () => {
  expect([0, 0.5, 45, 60, 90, 120, 600, 5400, 86_400, 90_000].map(duration)).toEqual([
    '0 s', '0.5 s', '45 s', '1 min', '90 s', '2 min', '10 min', '1 h 30 min', '1 d', '1 d 1 h',
  ]);
  expect(timeTicks(600, 5)).toEqual([0, 120, 240, 360, 480, 600]);
  expect(timeTicks(1, 5)).toEqual([0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
  expect(timeTicks(0, 5)).toEqual([0]);
});

test('a period within code does not end a sentence', () => {
  expect(firstSentence('Rate, such as `0. 5`. More text.')).toBe('Rate, such as `0. 5`.');
  expect(firstSentence('One sentence, e.g. this one')).toBe('One sentence, e.g. this one');
  expect(firstSentence('First line\nSecond line')).toBe('First line');
});

test('the depth of XML counts open tags', () => {
  expect(tagDepth('<?xml version="1.0"?><a b="c"><d/><e><f></f></e></a><a/>')).toBe(3);
});

test('replies have problems and elements', () => {
  expect(checkResult({ problems: [], revision: 'r', tree: null, curves: [] })).toEqual({ problems: [], structure: { revision: 'r', tree: null, curves: [] } });
  expect(checkResult({ problems: [] })).toEqual({ problems: [], structure: null });
  expect(checkResult({})).toHaveProperty('failure');
});

test('a result of another request replaces a check in flight', async () => {
  vi.useFakeTimers();
  const shown: CheckResult[] = [];
  const replies: ((result: CheckResult) => void)[] = [];
  const request = (): Promise<CheckResult> => new Promise((resolve) => replies.push(resolve));
  const checks = new CheckSchedule(() => '', request, (result) => shown.push(result));
  const first = checks.current();
  checks.change();
  checks.accept({ problems: [] });
  replies[0]?.({ failure: 'old' });
  expect(await first).toEqual({ problems: [] });
  expect(await checks.current()).toEqual({ problems: [] });
  await vi.advanceTimersByTimeAsync(1000);
  expect(replies).toHaveLength(1);
  checks.discard();
  const repeated = checks.current();
  replies[1]?.({ failure: 'new' });
  expect(await repeated).toEqual({ failure: 'new' });
  expect(shown).toEqual([{ problems: [] }, { failure: 'new' }]);
  vi.useRealTimers();
});

test('a duration has whole units', () => {
  expect([90, 600, 5400, 7180, 3599.6].map(duration)).toEqual(['90 s', '10 min', '1 h 30 min', '2 h', '60 min']);
});
