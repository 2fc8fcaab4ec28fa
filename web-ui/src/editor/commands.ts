// Edits that the commands of the tree request, computed from the elements and the selection.

import { pastePlace, type Outline, type PlanElement } from './outline';

/** A change of the plan that the server turns into changes of the text. */
export type PlanEdit =
  | { op: 'set'; path: string; value: string }
  | { op: 'remove'; paths: string[] }
  | { op: 'add'; list: string; index: number; kind: string }
  | { op: 'move' | 'copy'; paths: string[]; list: string; index: number }
  | { op: 'enable'; paths: string[]; enabled: boolean };

/** Elements that were copied or cut. */
export interface Clipboard {
  op: 'copy' | 'move';
  paths: string[];
}

const pathsOf = (elements: PlanElement[]): string[] => elements.map((element) => element.path);

/** The elements of a selection that are in lists. */
function listedElements(outline: Outline, selection: Iterable<string>): (PlanElement & { list: string })[] {
  return outline.topmost(selection).filter((element): element is PlanElement & { list: string } => element.list !== null);
}

/** Moves siblings by one place. The index counts in the list before the move. */
export function moveEdits(outline: Outline, selection: Iterable<string>, direction: -1 | 1): PlanEdit[] {
  const elements = listedElements(outline, selection);
  const [first] = elements;
  if (!first || elements.some((element) => element.list !== first.list)) return [];
  const indexes = elements.map((element) => element.index);
  const siblings = outline.node(first.path)?.parent?.element.children.filter((child) => child.list === first.list) ?? [];
  const index = direction < 0 ? Math.min(...indexes) - 1 : Math.max(...indexes) + 2;
  if (index < 0 || index > siblings.length) return [];
  return [{ op: 'move', paths: pathsOf(elements), list: first.list, index }];
}

/** Copies elements to the place after the last one of each list. */
export function duplicateEdits(outline: Outline, selection: Iterable<string>): PlanEdit[] {
  const all = listedElements(outline, selection);
  return [...new Set(all.map((element) => element.list))].map((list) => {
    const elements = all.filter((element) => element.list === list);
    const index = Math.max(...elements.map((element) => element.index)) + 1;
    return { op: 'copy', paths: pathsOf(elements), list, index };
  });
}

export function removeEdits(outline: Outline, selection: Iterable<string>): PlanEdit[] {
  const paths = pathsOf(outline.topmost(selection)).filter((path) => path !== outline.root.path);
  return paths.length > 0 ? [{ op: 'remove', paths }] : [];
}

/** Disables the elements; enables them if all are disabled. */
export function enableEdits(outline: Outline, selection: Iterable<string>): PlanEdit[] {
  const elements = listedElements(outline, selection);
  if (elements.length === 0) return [];
  const enabled = elements.every((element) => !element.enabled);
  const changedElements = elements.filter((element) => element.enabled !== enabled);
  return [{ op: 'enable', paths: pathsOf(changedElements), enabled }];
}

/** Elements that can be copied or cut. */
export const copyable = (outline: Outline, selection: Iterable<string>): string[] => pathsOf(listedElements(outline, selection));

/** Pastes elements after the target or into it. */
export function pasteEdits(outline: Outline, clipboard: Clipboard, target: PlanElement): PlanEdit[] {
  const elements = listedElements(outline, clipboard.paths);
  const place = pastePlace(target, new Set(elements.map((element) => element.type)));
  if (elements.length === 0 || !place) return [];
  if (clipboard.op === 'move' && elements.some((element) => outline.isWithin(target.path, element.path) && element.path !== target.path)) return [];
  return [{ op: clipboard.op, paths: pathsOf(elements), ...place }];
}
