// A slice of a pie chart as an SVG path.

/** A slice of the unit circle between two shares of it, clockwise from the top. */
export function slice(from: number, to: number): string {
  if (to - from >= 1 - 1e-9) return 'M0-1A1 1 0 1 1 0 1A1 1 0 1 1 0-1Z';
  const at = (share: number): string => {
    const angle = 2 * Math.PI * share;
    return `${Math.sin(angle).toFixed(4)} ${(-Math.cos(angle)).toFixed(4)}`;
  };
  return `M0 0L${at(from)}A1 1 0 ${to - from > 0.5 ? 1 : 0} 1 ${at(to)}Z`;
}
