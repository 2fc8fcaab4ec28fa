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

/** The charts of one group, side by side. */
export class ChartGroup {
  readonly group: Group;
  readonly element: HTMLElement;
  private readonly views = new Map<string, FigureView>();

  constructor(name: string, figures: Figure[]) {
    this.group = new Group(figures);
    this.element = h('div', { class: 'charts', 'data-group': name });
    this.show(figures);
  }

  /** Shows later data of these figures, without a change of zoom or place. */
  update(figures: Figure[]): void {
    this.group.cover(figures);
    this.show(figures);
  }

  /** Removes the charts from the page. */
  end(): void {
    this.views.forEach((view) => view.end());
    this.element.remove();
  }

  private show(figures: Figure[]): void {
    for (const figure of figures) {
      const view = this.views.get(figure.id);
      if (view) view.update(figure);
      else this.add(figure);
    }
  }

  private add(figure: Figure): void {
    const view = new FigureView(figure, this.group);
    this.views.set(figure.id, view);
    this.element.append(view.element);
  }
}

/** All charts of a section, group by group. */
export class ChartGroups {
  private readonly groups = new Map<string, ChartGroup>();

  /** Shows the figures in an element; those that it has already get later data. */
  show(figures: Figure[], place: HTMLElement): void {
    for (const [name, members] of byGroup(figures)) {
      const known = this.groups.get(name);
      if (known) {
        known.update(members);
        continue;
      }
      const made = new ChartGroup(name, members);
      this.groups.set(name, made);
      place.append(made.element);
    }
  }

  /** The first group, whose zoom is summed. */
  first(): Group | undefined {
    return [...this.groups.values()][0]?.group;
  }

  /** Removes all charts. */
  end(): void {
    this.groups.forEach((group) => group.end());
    this.groups.clear();
  }
}
