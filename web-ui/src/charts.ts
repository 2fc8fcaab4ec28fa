// Sections of charts. The charts of a group share their x axis.

import { h } from './dom';
import { FigureView } from './figure';
import { Group } from './group';
import type { Figure } from './types';

/** Figures by group, in their original order. */
export function byGroup(figures: Figure[]): Map<string, Figure[]> {
  const groups = new Map<string, Figure[]>();
  for (const figure of figures) groups.set(figure.group, [...(groups.get(figure.group) ?? []), figure]);
  return groups;
}

/** Places charts side by side, group by group. */
export function charts(figures: Figure[]): HTMLElement[] {
  return [...byGroup(figures)].map(([name, members]) => {
    const group = new Group(members);
    return h('div', { class: 'charts', 'data-group': name }, ...members.map((f) => new FigureView(f, group).element));
  });
}
