// The capacity of each contender in one sentence, and the trials that determined it.

import { h, section } from './dom';
import { plain, value } from './format';
import { sortable, type Column } from './table';
import type { Answer, Interval, StudyDocument, SearchTrial } from './types';

const SIDES = { below: 'met', above: 'missed', undecided: 'undecided' };

interface Row {
  number: number;
  tried: SearchTrial;
}

const columns: Column<Row>[] = [
  { title: 'Trial', cell: ({ number }) => plain(number), by: ({ number }) => number },
  { title: 'Load', cell: ({ tried }) => value(tried.load, 'count'), by: ({ tried }) => tried.load },
  { title: 'Seconds', cell: ({ tried }) => value(tried.seconds, 'count'), by: ({ tried }) => tried.seconds },
  { title: 'Achieved, /s', cell: ({ tried }) => value(tried.achieved, 'count'), by: ({ tried }) => tried.achieved },
  { title: 'Objectives', cell: ({ tried }) => sides(tried), by: ({ tried }) => sides(tried) },
  { title: 'Running estimate', cell: ({ tried }) => known(tried.running_estimate), by: ({ tried }) => tried.running_estimate.low },
  { title: 'Why', cell: ({ tried }) => tried.why, by: ({ tried }) => tried.why },
];

/** Answers of a search; null if the study is no search. */
export function answers({ analysis }: StudyDocument): HTMLElement | null {
  const several = analysis.answers.length > 1;
  return section('answer', 'Capacity', ...analysis.answers.flatMap((answer) => one(answer, several)));
}

function one({ contender, sentence, trials }: Answer, several: boolean): HTMLElement[] {
  const rows = trials.map((tried, index) => ({ number: index + 1, tried }));
  const whose = several ? h('strong', {}, `${contender}: `) : null;
  return [h('p', { class: 'answer' }, whose, sentence), sortable(columns, rows, `Trials of ${contender}`)];
}

/** Sides of the capacities on which a trial lies, as in the text report. Contested: unknown, because something other than the server
 * may have limited it. */
export function sides({ sides, limited }: SearchTrial): string {
  return limited && sides.every((side) => side === 'undecided') ? 'contested' : sides.map((side) => SIDES[side]).join(', ');
}

export function known({ low, high }: Interval): string {
  const number = (x: number) => value(x, 'count');
  if (low !== null && high !== null) return `${number(low)} – ${number(high)}`;
  if (low !== null) return `from ${number(low)} on`;
  return high !== null ? `below ${number(high)}` : '';
}
