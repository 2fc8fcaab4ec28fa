// Charts that share an x axis: zoom and hover in one apply to all.

import { bend } from './scale';
import type { Figure } from './types';

/** A range of x, in values. */
export interface Range {
  from: number;
  to: number;
}

/** A chart that follows zoom and hover of the others. */
export interface Member {
  /** Shows this range; null shows everything. */
  zoomed(range: Range | null): void;
  /** Points at this value of x; null removes the pointer. */
  pointed?(x: number | null): void;
}

/** Shared state of charts with one x axis. */
export class Group {
  private readonly members = new Set<Member>();
  range: Range | null = null;
  /** Range of all its figures together, transformed. */
  whole: [number, number] = [0, 1];

  constructor(figures: Figure[]) {
    this.cover(figures);
  }

  /** Takes the range of these figures, which are those of the group. */
  cover(figures: Figure[]): void {
    let [low, high] = [Infinity, -Infinity];
    for (const figure of figures) {
      const { to } = bend(figure.x.scale);
      const xs = figure.heat ? figure.heat.x : figure.lines.flatMap((line) => line.x);
      for (const x of xs) {
        const at = to(x);
        if (at !== null) [low, high] = [Math.min(low, at), Math.max(high, at)];
      }
    }
    this.whole = high >= low ? [low, high] : [0, 1];
  }

  join(member: Member): void {
    this.members.add(member);
  }

  leave(member: Member): void {
    this.members.delete(member);
  }

  zoom(range: Range | null): void {
    this.range = range && range.to > range.from ? range : null;
    for (const member of this.members) member.zoomed(this.range);
  }

  point(x: number | null, by: Member): void {
    for (const member of this.members) if (member !== by) member.pointed?.(x);
  }
}
