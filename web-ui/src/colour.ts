// Whose line has which colour and which dashes.

import { styled } from './dom';
import type { Line } from './types';

/** So many colours the style sheet has: `--line-0` and on. */
const COLOURS = 8;

const DASHES: number[][] = [[], [7, 4], [2, 3], [10, 3, 2, 3], [14, 5]];

/** The number of a line's colour: its contender's; of lines that are nobody's, each its own. */
export function colourNumber(line: Line, index: number): number {
  return (line.contender ?? index) % COLOURS;
}

export const colour = (number: number): string => styled(`--line-${number % COLOURS}`);

export const dashes = (dash: number): number[] => DASHES[dash % DASHES.length] ?? [];

/** A colour of the style sheet (`#rrggbb`), seen through. */
export const faint = (hex: string, share: number): string =>
  hex +
  Math.round(share * 255)
    .toString(16)
    .padStart(2, '0');
