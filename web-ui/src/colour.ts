// Colors and dash patterns of lines.

import { themed } from './dom';
import type { Figure } from './types';

/** Number of line colors in the style sheet: `--line-0` and following. */
const COLOURS = 8;

const DASHES: number[][] = [[], [7, 4], [2, 3], [10, 3, 2, 3], [14, 5]];

/** Color number of a line: that of its contender. Without contenders, each line has its own; otherwise lines without one are gray. */
export function colourNumber({ lines }: Figure, index: number): number {
  const whose = lines[index]?.contender ?? null;
  if (whose !== null) return whose % (COLOURS - 1);
  return lines.some((line) => line.contender !== null) ? COLOURS - 1 : index % COLOURS;
}

export const colour = (number: number): string => themed(`--line-${number % COLOURS}`);

export const dashes = (dash: number): number[] => DASHES[dash % DASHES.length] ?? [];

/** A color of the style sheet (`#rrggbb`) with transparency. */
export const faint = (hex: string, share: number): string =>
  hex +
  Math.round(share * 255)
    .toString(16)
    .padStart(2, '0');
