// Moves elements with the mouse.

import { dropPlace, type DropPlace, type Outline } from './outline';
import type { TreeView } from './tree';

export interface DragOptions {
  outline: () => Outline | null;
  /** Returns the paths to move if a drag begins at an element. */
  begin: (path: string) => string[];
  drop: (paths: string[], place: DropPlace) => void;
}

const MARKS = ['drop-before', 'drop-after', 'drop-into'];

export function addDragging(tree: TreeView, options: DragOptions): void {
  let paths: string[] = [];
  let markedRow: HTMLElement | null = null;

  const mark = (item: HTMLElement | null, side?: DropPlace['side']): void => {
    markedRow?.classList.remove(...MARKS);
    markedRow = item;
    if (side) item?.classList.add(`drop-${side}`);
  };
  const placeOf = (event: DragEvent): { item: HTMLElement; place: DropPlace } | null => {
    const row = tree.rowOf(event);
    const outline = options.outline();
    const target = row && outline?.element(row.path);
    if (!row || !outline || !target) return null;
    const { top, height } = row.item.getBoundingClientRect();
    const place = dropPlace(outline, paths, target, (event.clientY - top) / height, row.item.ariaExpanded === 'true');
    return place && { item: row.item, place };
  };

  tree.element.addEventListener('dragstart', (event) => {
    const row = tree.rowOf(event);
    if (!row || !event.dataTransfer) return;
    paths = options.begin(row.path);
    event.dataTransfer.effectAllowed = 'move';
    // Firefox begins no drag without data.
    event.dataTransfer.setData('text/plain', '');
  });
  tree.element.addEventListener('dragover', (event) => {
    const target = paths.length > 0 ? placeOf(event) : null;
    mark(target?.item ?? null, target?.place.side);
    if (target) event.preventDefault();
  });
  tree.element.addEventListener('dragleave', (event) => {
    if (!tree.element.contains(event.relatedTarget as Node | null)) mark(null);
  });
  tree.element.addEventListener('drop', (event) => {
    const target = placeOf(event);
    mark(null);
    if (!target) return;
    event.preventDefault();
    options.drop(paths, target.place);
    paths = [];
  });
  tree.element.addEventListener('dragend', () => {
    mark(null);
    paths = [];
  });
}
