// Colors and dash patterns of lines.

import { themed } from './dom';
import type { Figure } from './types';

/** Number of line colors in the style sheet: `--line-0` and following. */
const COLORS = 8;

const DASHES: number[][] = [[], [7, 4], [2, 3], [10, 3, 2, 3], [14, 5]];

/** Color number of a line: that of its contender. Without contenders, each line has its own; otherwise lines without one are gray. */
export function colorNumber({ lines }: Figure, index: number): number {
  const contender = lines[index]?.contender ?? null;
  if (contender !== null) return contender % (COLORS - 1);
  return lines.some((line) => line.contender !== null) ? COLORS - 1 : index % COLORS;
}

export const color = (number: number): string => themed(`--line-${number % COLORS}`);

export const dashes = (dash: number): number[] => DASHES[dash % DASHES.length] ?? [];

/** A color of the style sheet (`#rrggbb`) with transparency. */
export const faint = (hex: string, share: number): string =>
  hex +
  Math.round(share * 255)
    .toString(16)
    .padStart(2, '0');
