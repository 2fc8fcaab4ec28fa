// The elements of a plan as the server lists them, and computations on their tree.

/** A list of an element, which holds elements of one type. */
export interface ElementList {
  path: string;
  type: string;
}

export interface PlanElement {
  /** Unique; empty for the root. */
  path: string;
  kind: string;
  title: string;
  /** First and last line, counted from 1. */
  line: number;
  end_line: number;
  enabled: boolean;
  type: string;
  /** Path of the list that holds the element; null if it cannot be moved, copied or disabled. */
  list: string | null;
  index: number;
  lists: ElementList[];
  children: PlanElement[];
}

/** The load over time. */
export interface Curve {
  name: string;
  unit: string;
  /** Seconds since the start, and the value. */
  points: [number, number][];
}

/** Elements and load of one revision of the text. */
export interface PlanStructure {
  revision: string;
  /** Null if the text has an error that prevents reading it. */
  tree: PlanElement | null;
  curves: Curve[];
}

/** An element and its place in the tree. */
export interface OutlineNode {
  element: PlanElement;
  parent: OutlineNode | null;
  /** Counted from 1. */
  level: number;
  /** Among its siblings, counted from 1. */
  position: number;
  siblings: number;
}

/** Structure of a reply; null if it has none. */
export function structureOf(reply: unknown): PlanStructure | null {
  if (typeof reply !== 'object' || reply === null) return null;
  const { revision, tree, curves } = reply as Partial<PlanStructure>;
  if (typeof revision !== 'string') return null;
  return { revision, tree: tree ?? null, curves: Array.isArray(curves) ? curves : [] };
}

const nameOf = ({ kind, type, title }: PlanElement): string => `${kind}\n${type}\n${title}`;

/** All elements of a tree, by path and by line. */
export class Outline {
  /** In the order of the tree. */
  readonly nodes: OutlineNode[] = [];
  private readonly byPath = new Map<string, OutlineNode>();
  private readonly byLine = new Map<number, PlanElement[]>();

  private byName: Map<string, PlanElement[]> | null = null;

  constructor(readonly root: PlanElement) {
    this.add(root, null, 1, 1);
  }

  private add(element: PlanElement, parent: OutlineNode | null, position: number, siblings: number): void {
    const node = { element, parent, level: (parent?.level ?? 0) + 1, position, siblings };
    this.nodes.push(node);
    this.byPath.set(element.path, node);
    const onLine = this.byLine.get(element.line);
    if (onLine) onLine.push(element);
    else this.byLine.set(element.line, [element]);
    element.children.forEach((child, i) => this.add(child, node, i + 1, element.children.length));
  }

  node(path: string): OutlineNode | undefined {
    return this.byPath.get(path);
  }

  element(path: string): PlanElement | undefined {
    return this.byPath.get(path)?.element;
  }

  /** Elements that begin on a line. */
  startingAt(line: number): PlanElement[] {
    return this.byLine.get(line) ?? [];
  }

  /** Elements with the kind and the title of another one. */
  named(element: PlanElement): PlanElement[] {
    this.byName ??= this.indexNames();
    return this.byName.get(nameOf(element)) ?? [];
  }

  private indexNames(): Map<string, PlanElement[]> {
    const names = new Map<string, PlanElement[]>();
    for (const { element } of this.nodes) {
      const elements = names.get(nameOf(element));
      if (elements) elements.push(element);
      else names.set(nameOf(element), [element]);
    }
    return names;
  }

  /** The innermost element that contains a line. */
  atLine(line: number): PlanElement {
    let element = this.root;
    for (;;) {
      const child = element.children.find((candidate) => candidate.line <= line && line <= candidate.end_line);
      if (!child) return element;
      element = child;
    }
  }

  /** True if an element is another one or within it. */
  isWithin(path: string, ancestor: string): boolean {
    for (let node = this.node(path); node; node = node.parent ?? undefined) {
      if (node.element.path === ancestor) return true;
    }
    return false;
  }

  /** The elements of paths, in the order of the tree, without those within another one of them. */
  topmost(paths: Iterable<string>): PlanElement[] {
    const chosenPaths = new Set(paths);
    const hasChosenParent = (node: OutlineNode): boolean => {
      for (let parent = node.parent; parent; parent = parent.parent) {
        if (chosenPaths.has(parent.element.path)) return true;
      }
      return false;
    };
    return this.nodes.filter((node) => chosenPaths.has(node.element.path) && !hasChosenParent(node)).map((node) => node.element);
  }

  /** Number of levels that can be expanded without more than `most` rows. At least the root is expanded. */
  levelsFor(most: number): number {
    const counts: number[] = [];
    for (const { level } of this.nodes) counts[level] = (counts[level] ?? 0) + 1;
    let rows = counts[1] ?? 0;
    let level = 1;
    while (level + 1 < counts.length && (level === 1 || rows + (counts[level + 1] ?? 0) <= most)) {
      level++;
      rows += counts[level] ?? 0;
    }
    return level - 1;
  }
}

/** Nodes that are shown if only some elements are expanded. */
export function visibleNodes(outline: Outline, isExpanded: (node: OutlineNode) => boolean): OutlineNode[] {
  const visible: OutlineNode[] = [];
  const hidden = new Set<OutlineNode>();
  for (const node of outline.nodes) {
    const { parent } = node;
    if (parent && (hidden.has(parent) || !isExpanded(parent))) hidden.add(node);
    else visible.push(node);
  }
  return visible;
}

/** A place in a list: an index in the list as it is before the edit. */
export interface ListPlace {
  list: string;
  index: number;
}

/** The place at the end of the first list of an element that holds all types; null if there is none. */
export function placeInto(target: PlanElement, types: Set<string>): ListPlace | null {
  const list = target.lists.find((candidate) => [...types].every((type) => type === candidate.type));
  if (!list) return null;
  return { list: list.path, index: target.children.filter((child) => child.list === list.path).length };
}

/** The place before (0) or after (1) an element; null if its list does not hold all types. */
export function placeBeside(target: PlanElement, types: Set<string>, offset: 0 | 1): ListPlace | null {
  if (target.list === null || [...types].some((type) => type !== target.type)) return null;
  return { list: target.list, index: target.index + offset };
}

/** The place to paste elements: after the target or, if that is impossible, into it. */
export function pastePlace(target: PlanElement, types: Set<string>): ListPlace | null {
  return placeBeside(target, types, 1) ?? placeInto(target, types);
}

export interface DropPlace extends ListPlace {
  side: 'before' | 'after' | 'into';
}

/**
 * The place to drop elements on a row; `ratio` is the position of the pointer between its top (0) and its bottom (1). Below an
 * expanded row is the first place within its element.
 */
export function dropPlace(outline: Outline, paths: Iterable<string>, target: PlanElement, ratio: number, isExpanded: boolean): DropPlace | null {
  const elements = outline.topmost(paths);
  const isMovable = elements.length > 0 && elements.every((element) => element.list !== null);
  if (!isMovable || elements.some((element) => outline.isWithin(target.path, element.path))) return null;
  const types = new Set(elements.map((element) => element.type));
  const into = placeInto(target, types);
  if (isExpanded && ratio >= 0.75) return into && { ...into, index: 0, side: 'after' };
  const offset = ratio < 0.5 || isExpanded ? 0 : 1;
  const beside = placeBeside(target, types, offset);
  if (into && (!beside || (ratio > 0.25 && ratio < 0.75))) return { ...into, side: 'into' };
  return beside && { ...beside, side: offset === 0 ? 'before' : 'after' };
}
