// One chart on a canvas: uPlot with axes, bands, marks, pointer and zoom of the report.
//
// Out of scope: the figure that contains it (heading, legend, table), see figure.ts. uPlot receives transformed values (scale.ts).

import uPlot from 'uplot';
import { color, colorNumber, dashes, faint } from './color';
import { styled, themed } from './dom';
import { axisUnit } from './format';
import type { Group, Member, Range } from './group';
import { cellFrom, cellInColumn, cellOf, paint, type CellPosition } from './heat';
import { aligned, columns, extent, type Columns } from './lines';
import { cellReading, readings, type Reading } from './readings';
import { bend, ends, ticks } from './scale';
import { text } from './texts';
import type { Figure, Heat } from './types';

const HEIGHT = 270;
/** Draws values that hold from their x to the next one. */
const STEPS = uPlot.paths.stepped?.({ align: 1 });
/** Lines with fewer points show a mark for each point. */
const FEW = 64;

export class Chart implements Member {
  private u: uPlot;
  private data: Columns;
  private shown: boolean[];
  private readonly watcher: ResizeObserver;
  /** Width of the place. Each look at it would make the browser compute the layout. */
  private width: number;
  private leading = false;
  /** The cell of a heat map that keys have chosen. */
  private cell: CellPosition | null = null;

  constructor(
    private figure: Figure,
    private readonly group: Group,
    private readonly place: HTMLElement,
    /** Called with the values at the pointer and its x position; with an empty list if the pointer leaves. */
    private readonly tell: (readings: Reading[], title: string, left: number | null) => void,
  ) {
    this.data = dataOf(figure);
    this.shown = figure.lines.map(() => true);
    this.width = this.widthOfPlace();
    this.u = this.make();
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(place);
    group.join(this);
  }

  /** Removes the chart. */
  end(): void {
    this.group.leave(this);
    this.watcher.disconnect();
    this.u.destroy();
  }

  /** Shows later data of the same figure. */
  update(figure: Figure): void {
    const before = this.u.series.length;
    this.figure = figure;
    this.cell = null;
    this.data = dataOf(figure);
    this.shown = figure.lines.map((_, i) => this.shown[i] ?? true);
    const data = aligned(this.data);
    if (data.length === before) this.u.setData(data, true);
    else this.redraw();
  }

  /** Redraws the chart, for example after a change of colors. */
  redraw(): void {
    this.u.destroy();
    this.u = this.make();
  }

  /** Shows or hides a line. */
  toggle(line: number, shown: boolean): void {
    this.shown[line] = shown;
    this.seriesOf(line).forEach((series) => this.u.setSeries(series, { show: shown }));
    this.u.setData(this.u.data, true);
  }

  zoomed(): void {
    this.cell = null;
    this.u.setData(this.u.data, true);
    this.u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  pointed(x: number | null): void {
    this.leading = false;
    this.cell = null;
    const at = x === null ? null : bend(this.figure.x.scale).to(x);
    if (at === null) this.u.setCursor({ left: -10, top: -10 }, false);
    else this.u.setCursor({ left: this.u.valToPos(at, 'x'), top: -10 }, false);
    this.read(at, null);
  }

  /** Moves the pointer to the next point, or to the next column of a heat map, for keys. */
  step(by: 1 | -1): void {
    const { heat } = this.figure;
    if (heat) return this.pointAt(heat, this.cell && cellFrom(heat, this.cell.column + by, this.cell.row, by));
    const { idx, left } = this.u.cursor;
    if ((left ?? -1) < 0) return this.stepToEnd(-1);
    this.pointTo(Math.min(Math.max((idx ?? 0) + by, 0), this.data.x.length - 1));
  }

  /** Moves the pointer to the first (-1) or to the last (1) visible point or column, for keys. */
  stepToEnd(end: 1 | -1): void {
    const { heat } = this.figure;
    const [first, last] = this.xRange();
    const isVisible = (x: number): boolean => x >= first && x <= last;
    if (!heat) return this.pointTo(end < 0 ? this.data.x.findIndex(isVisible) : this.data.x.findLastIndex(isVisible));
    const columns = heat.counts.map((_, column) => isVisible(this.middle('x', heat.x, column)));
    this.pointAt(heat, cellFrom(heat, end < 0 ? columns.indexOf(true) : columns.lastIndexOf(true), this.cell?.row ?? 0, end < 0 ? 1 : -1));
  }

  /** Moves the pointer of a heat map to the next cell above (1) or below (-1), for keys. */
  stepUp(by: 1 | -1): void {
    const { heat } = this.figure;
    if (heat) this.pointAt(heat, this.cell && cellInColumn(heat, this.cell, by));
  }

  private pointTo(index: number): void {
    const x = this.data.x[index];
    const [first, last] = this.xRange();
    if (x === undefined || x < first || x > last) return;
    this.leading = true;
    this.u.setCursor({ left: this.u.valToPos(x, 'x'), top: this.u.over.clientHeight / 2 });
  }

  /** Points at a cell of a heat map, or at the first one if no key has chosen one yet. */
  private pointAt(heat: Heat, cell: CellPosition | null): void {
    if (!cell && !this.cell) return this.stepToEnd(-1);
    if (!cell) return;
    const x = this.middle('x', heat.x, cell.column);
    const [first, last] = this.xRange();
    if (x < first || x > last) return;
    this.leading = true;
    this.cell = cell;
    this.u.setCursor({ left: this.u.valToPos(x, 'x'), top: this.u.valToPos(this.middle('y', heat.y, cell.row), 'y') });
  }

  /** The transformed middle between two borders of a heat map. A border that the scale does not have is at the end of the scale. */
  private middle(side: 'x' | 'y', borders: number[], index: number): number {
    const { to } = bend(this.figure[side].scale);
    const ends = [borders[index], borders[index + 1]].map((border) => (border === undefined ? null : to(border)));
    const [low = null, high = null] = ends;
    return ((low ?? high ?? 0) + (high ?? low ?? 0)) / 2;
  }

  /** Zooms around the pointer or the middle: in for factors below 1, out above 1. */
  zoomBy(factor: number): void {
    const [first, last] = this.xRange();
    const { left } = this.u.cursor;
    const middle = left !== undefined && left >= 0 ? this.u.posToVal(left, 'x') : (first + last) / 2;
    const half = ((last - first) / 2) * factor;
    const [low, high] = this.whole();
    const from = Math.max(low, middle - half);
    const to = Math.min(high, middle + half);
    this.group.zoom(from <= low && to >= high ? null : this.values(from, to));
  }

  private values(from: number, to: number): Range {
    const { from: value } = bend(this.figure.x.scale);
    return { from: value(from), to: value(to) };
  }

  private widthOfPlace(): number {
    return Math.max(200, this.place.clientWidth);
  }

  private resize(): void {
    const width = this.widthOfPlace();
    if (width === this.width) return;
    this.width = width;
    this.u.setSize({ width, height: HEIGHT });
  }

  private whole(): [number, number] {
    const [first, last] = this.group.whole;
    const pad = (last - first) * 0.015 || Math.abs(first) * 0.1 || 1;
    return [first - pad, last + pad];
  }

  private xRange(): [number, number] {
    const { range } = this.group;
    if (!range) return this.whole();
    const { to } = bend(this.figure.x.scale);
    const [low, high] = this.whole();
    const [first, last] = [to(range.from) ?? low, to(range.to) ?? high];
    return last > low && first < high ? [first, last] : [low, high];
  }

  private yRange(): [number, number] {
    const { y } = this.figure;
    if (this.figure.heat) {
      const rows = this.figure.heat.y.map(bend(y.scale).to).filter((v) => v !== null);
      return [rows[0] ?? 0, rows.at(-1) ?? 1];
    }
    const found = extent(this.data, this.shown, ...this.xRange());
    return found ? ends(y.scale, y.unit, ...found) : [0, 1];
  }

  private seriesOf(line: number): number[] {
    let at = 1;
    for (const [i, c] of this.data.columns.entries()) {
      const many = c.low && c.high ? 3 : 1;
      if (i === line) return Array.from({ length: many }, (_, k) => at + k);
      at += many;
    }
    return [];
  }

  private make(): uPlot {
    const { series, bands } = this.series();
    const options: uPlot.Options = {
      width: this.width,
      height: HEIGHT,
      legend: { show: false },
      scales: { x: { time: false, range: () => this.xRange() }, y: { range: () => this.yRange() } },
      axes: [this.axis('x'), this.axis('y')],
      series,
      bands,
      padding: [12, 14, 0, 0],
      cursor: {
        drag: { x: true, y: false, setScale: false },
        points: { size: 7 },
        y: false,
        bind: { dblclick: () => () => (this.group.zoom(null), null) },
      },
      hooks: {
        drawAxes: [(u) => this.figure.heat && paint(u, this.figure, this.figure.heat)],
        draw: [(u) => this.marks(u)],
        setSelect: [(u) => this.selected(u)],
        setCursor: [(u) => this.cursorMoved(u)],
      },
    };
    const u = new uPlot(options, aligned(this.data), this.place);
    u.over.addEventListener('mouseenter', () => (this.leading = true));
    u.over.addEventListener('mousemove', () => {
      this.leading = true;
      this.cell = null;
    });
    u.over.addEventListener('mouseleave', () => this.leave());
    return u;
  }

  private series(): { series: uPlot.Series[]; bands: uPlot.Band[] } {
    const series: uPlot.Series[] = [{}];
    const bands: uPlot.Band[] = [];
    this.data.columns.forEach((column, i) => {
      const line = this.figure.lines[i];
      const stroke = line ? color(colorNumber(this.figure, i)) : 'transparent';
      const show = this.shown[i] ?? true;
      const few = (line?.x.length ?? FEW) < FEW;
      const dash = dashes(line?.dash ?? 0);
      if (this.figure.histogram) {
        series.push({ stroke, width: 1.25, fill: faint(stroke, 0.3), paths: STEPS, points: { show: false }, show });
        return;
      }
      const points = { show: few && line !== undefined, size: 5, fill: stroke };
      series.push({ stroke, width: 1.75, dash, points, show });
      if (!column.low || !column.high) return;
      const at = series.length;
      series.push({ show, points: { show: false }, width: 0 }, { show, points: { show: false }, width: 0 });
      bands.push({ series: [at + 1, at], fill: faint(stroke, 0.16) });
    });
    return { series, bands };
  }

  private axis(side: 'x' | 'y'): uPlot.Axis {
    const { label, unit, scale } = this.figure[side];
    const long = () => (side === 'x' ? this.width / 85 : 6);
    const at = (low: number, high: number) => ticks(scale, unit, low, high, long());
    const suffix = axisUnit(unit);
    return {
      label: suffix ? text('axis-label', { label, unit: suffix }) : label,
      labelSize: 22,
      labelFont: `12px ${styled('--font')}`,
      font: `12px ${styled('--font')}`,
      size: side === 'x' ? 30 : 58,
      stroke: themed('--muted'),
      grid: { stroke: themed('--grid'), width: 1 },
      ticks: { show: false },
      splits: (_u, _axis, low, high) => at(low, high).map((t) => t.at),
      values: (_u, splits) => {
        const [low, high] = side === 'x' ? this.xRange() : this.yRange();
        const texts = new Map(at(low, high).map((t) => [t.at, t.text]));
        return splits.map((s) => texts.get(s) ?? '');
      },
    };
  }

  /** Position of a value of x on the canvas; outside if the scale has none. */
  private position(u: uPlot, x: number): number {
    const at = bend(this.figure.x.scale).to(x);
    return at === null ? -1 : Math.round(u.valToPos(at, 'x', true));
  }

  private marks(u: uPlot): void {
    const { ctx, bbox } = u;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.font = `${11 * ratio}px ${styled('--font')}`;
    ctx.textBaseline = 'top';
    this.figure.marks.forEach((mark, i) => {
      const ink = mark.contender === null ? themed('--muted') : color(mark.contender);
      const x = this.position(u, mark.x);
      if (mark.until !== undefined) {
        const [left = 0, right = 0] = [x, this.position(u, mark.until)].map((at) => Math.min(Math.max(at, bbox.left), bbox.left + bbox.width));
        ctx.fillStyle = faint(ink, 0.16);
        ctx.fillRect(left, bbox.top, right - left, bbox.height);
      }
      if (x < bbox.left || x > bbox.left + bbox.width) return;
      ctx.strokeStyle = ctx.fillStyle = ink;
      ctx.lineWidth = ratio;
      ctx.setLineDash([3 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const room = Math.max(x - bbox.left, bbox.left + bbox.width - x) - 8 * ratio;
      const text = fitting(ctx, mark.name, room);
      const right = x + ctx.measureText(text).width + 8 * ratio < bbox.left + bbox.width;
      ctx.textAlign = right ? 'left' : 'right';
      ctx.setLineDash([]);
      ctx.strokeStyle = themed('--page');
      ctx.lineWidth = 3 * ratio;
      const [left, top] = [x + (right ? 4 : -4) * ratio, bbox.top + (2 + 14 * (i % 4)) * ratio];
      ctx.strokeText(text, left, top);
      ctx.fillText(text, left, top);
    });
    ctx.restore();
  }

  private selected(u: uPlot): void {
    const { left, width } = u.select;
    if (width < 4) return;
    this.group.zoom(this.values(u.posToVal(left, 'x'), u.posToVal(left + width, 'x')));
  }

  private cursorMoved(u: uPlot): void {
    if (!this.leading) return;
    const { left = -1, top = -1 } = u.cursor;
    if (left < 0) return this.leave();
    const at = u.posToVal(left, 'x');
    this.group.point(bend(this.figure.x.scale).from(at), this);
    this.read(at, left + u.over.offsetLeft, top);
  }

  /** Reports the values at a transformed x. */
  private read(at: number | null, left: number | null, top = -1): void {
    if (at === null) return this.tell([], '', null);
    if (this.figure.heat && this.cell) {
      const { readings, title } = cellReading(this.figure, cellOf(this.figure.heat, this.cell));
      return this.tell(readings, title, left);
    }
    const [first, last] = this.xRange();
    const y = top >= 0 ? bend(this.figure.y.scale).from(this.u.posToVal(top, 'y')) : null;
    const found = readings(this.figure, this.shown, at, (last - first) * 0.04, y);
    this.tell(found.readings, found.title, left);
  }

  /** Handles a pointer that leaves the chart. */
  leave(): void {
    this.leading = false;
    this.cell = null;
    this.group.point(null, this);
    this.tell([], '', null);
  }
}

/** Truncates a text to the available width. */
function fitting(ctx: CanvasRenderingContext2D, text: string, room: number): string {
  if (ctx.measureText(text).width <= room) return text;
  const shorter = Array.from({ length: text.length }, (_, i) => `${text.slice(0, text.length - i)}…`);
  return shorter.find((t) => ctx.measureText(t).width <= room) ?? '';
}

const dataOf = (figure: Figure): Columns => (figure.heat ? heatColumns(figure) : columns(figure));

/** A heat map has no lines; uPlot receives its corners. */
function heatColumns(figure: Figure): Columns {
  const { to } = bend(figure.x.scale);
  const x = (figure.heat?.x ?? []).map(to).filter((v) => v !== null);
  return { x, columns: [{ y: x.map(() => null), low: null, high: null }] };
}
