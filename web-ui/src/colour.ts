// Whose line has which colour and which dashes.

import { themed } from './dom';
import type { Figure } from './types';

/** So many colours the style sheet has: `--line-0` and on. */
const COLOURS = 8;

const DASHES: number[][] = [[], [7, 4], [2, 3], [10, 3, 2, 3], [14, 5]];

/** The number of a line's colour: its contender's; where no line is anybody's, each its own, else nobody's are grey. */
export function colourNumber({ lines }: Figure, index: number): number {
  const whose = lines[index]?.contender ?? null;
  if (whose !== null) return whose % (COLOURS - 1);
  return lines.some((line) => line.contender !== null) ? COLOURS - 1 : index % COLOURS;
}

export const colour = (number: number): string => themed(`--line-${number % COLOURS}`);

export const dashes = (dash: number): number[] => DASHES[dash % DASHES.length] ?? [];

/** A colour of the style sheet (`#rrggbb`), seen through. */
export const faint = (hex: string, share: number): string =>
  hex +
  Math.round(share * 255)
    .toString(16)
    .padStart(2, '0');
