// Finds elements again after the text has changed, because the path of an element contains its index.

import type { ChangeDesc, Text } from '@codemirror/state';
import type { Outline, PlanElement } from './outline';

/** Elements of a text, and all changes of the text since then. */
export interface Snapshot {
  outline: Outline;
  doc: Text;
  changes: ChangeDesc;
}

/** Line in the current text at which a line of the snapshot begins. */
export function currentLine(snapshot: Snapshot, doc: Text, line: number): number {
  const { from } = snapshot.doc.line(Math.min(Math.max(line, 1), snapshot.doc.lines));
  return doc.lineAt(Math.min(snapshot.changes.mapPos(from, 1), doc.length)).number;
}

/** Path of an element of the snapshot in the elements of the current text. An element that is not found keeps its path. */
export function currentPath(snapshot: Snapshot, doc: Text, outline: Outline, path: string): string {
  const element = snapshot.outline.element(path);
  if (!element || element.path === snapshot.outline.root.path) return path;
  const isSame = (other: PlanElement): boolean => other.kind === element.kind && other.type === element.type;
  const before = snapshot.outline.startingAt(element.line).filter(isSame);
  const after = outline.startingAt(currentLine(snapshot, doc, element.line)).filter(isSame);
  // Several elements can be on one line in flow style.
  const onLine = after[before.indexOf(element)] ?? after[0];
  if (onLine?.title === element.title) return onLine.path;
  const atPath = outline.element(path);
  if (atPath && isSame(atPath) && atPath.title === element.title) return path;
  const named = outline.named(element);
  // The change has given the element another title.
  if (onLine && named.length < snapshot.outline.named(element).length) return onLine.path;
  // The change has moved the element, for example the undoing of a move.
  return (named.length === 1 ? named[0] : onLine)?.path ?? path;
}

/** Path of a part of an element whose path has changed. The path of its name may have a prefix. */
export function rebasedPath(path: string, before: string, after: string): string {
  if (before === '') return path;
  if (path.startsWith(before)) return after + path.slice(before.length);
  return path.endsWith(before) ? path.slice(0, path.length - before.length) + after : path;
}

/** Path of an element that follows the element when the text changes. */
export interface TrackedPath {
  path: string;
}

export class PathTracker {
  private readonly references = new Set<TrackedPath>();

  add(path: string): TrackedPath {
    const reference = { path };
    this.references.add(reference);
    return reference;
  }

  remove(references: Iterable<TrackedPath>): void {
    for (const reference of references) this.references.delete(reference);
  }

  rename(currentPath: (path: string) => string): void {
    for (const reference of this.references) reference.path = currentPath(reference.path);
  }
}
