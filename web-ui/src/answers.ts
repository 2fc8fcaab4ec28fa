// The capacity of each contender in one sentence, and the trials that determined it.

import { h, section } from './dom';
import { plain, value } from './format';
import { list } from './list';
import { sortable, type Column } from './table';
import { text } from './texts';
import type { Answer, Interval, StudyDocument, SearchTrial } from './types';

const SIDES: Record<SearchTrial['sides'][number], () => string> = {
  below: () => text('objectives-met'),
  above: () => text('objectives-missed'),
  undecided: () => text('objectives-undecided'),
};

interface Row {
  number: number;
  tried: SearchTrial;
}

const columns = (): Column<Row>[] => [
  { title: text('column-trial'), cell: ({ number }) => plain(number), by: ({ number }) => number },
  { title: text('column-load'), cell: ({ tried }) => value(tried.load, 'count'), by: ({ tried }) => tried.load },
  { title: text('column-seconds'), cell: ({ tried }) => value(tried.seconds, 'count'), by: ({ tried }) => tried.seconds },
  { title: text('column-achieved-per-second'), cell: ({ tried }) => value(tried.achieved, 'count'), by: ({ tried }) => tried.achieved },
  { title: text('column-objectives'), cell: ({ tried }) => sides(tried), by: ({ tried }) => sides(tried) },
  { title: text('column-estimate'), cell: ({ tried }) => known(tried.running_estimate), by: ({ tried }) => tried.running_estimate.low },
  { title: text('column-reason'), cell: ({ tried }) => tried.why, by: ({ tried }) => tried.why },
];

/** Answers of a search; null if the study is no search. */
export function answers({ analysis }: StudyDocument): HTMLElement | null {
  const several = analysis.answers.length > 1;
  return section('answer', text('section-answer'), ...analysis.answers.flatMap((answer) => one(answer, several)));
}

function one({ contender, sentence, trials }: Answer, several: boolean): HTMLElement[] {
  const rows = trials.map((tried, index) => ({ number: index + 1, tried }));
  const whose = several ? h('strong', {}, text('contender-label', { contender })) : null;
  return [h('p', { class: 'answer' }, whose, sentence), sortable(columns(), rows, text('trials-of', { contender }))];
}

/** Sides of the capacities on which a trial lies, as in the text report. Contested: unknown, because something other than the server
 * may have limited it. */
export function sides({ sides, limited }: SearchTrial): string {
  return limited && sides.every((side) => side === 'undecided') ? text('objectives-contested') : list(sides.map((side) => SIDES[side]()));
}

export function known({ low, high }: Interval): string {
  const number = (x: number) => value(x, 'count');
  if (low !== null && high !== null) return `${number(low)} – ${number(high)}`;
  if (low !== null) return text('estimate-from', { low: number(low) });
  return high !== null ? text('estimate-below', { high: number(high) }) : '';
}
