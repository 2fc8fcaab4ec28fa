// Data that Rust embeds in the page (crates/report/src/html.rs): the study, its charts, and the sums for zooming.
//
// These types compute nothing. Times are in seconds, rates per second; unknown values are null.

export type Unit = 'count' | 'seconds' | 'per_second' | 'share' | 'bytes' | 'bytes_per_second' | 'cores' | 'users' | 'clock';
export type ScaleKind = 'linear' | 'log' | 'quantile';

export interface Axis {
  label: string;
  unit: Unit;
  scale: ScaleKind;
}

/** A line in columns: `y[i]` and its band belong to `x[i]`; null is a gap. */
export interface Line {
  name: string;
  contender: number | null;
  dash: number;
  x: number[];
  y: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
}

export interface Mark {
  x: number;
  /** End of a shaded span that begins at x; absent for a value. */
  until?: number;
  name: string;
  contender: number | null;
}

/** Counts in cells: `x` and `y` are borders, one more than there are columns and rows. */
export interface Heat {
  x: number[];
  y: number[];
  counts: number[][];
}

export interface Figure {
  id: string;
  title: string;
  about: string;
  /** Charts of one group share their x axis. */
  group: string;
  x: Axis;
  y: Axis;
  lines: Line[];
  marks: Mark[];
  heat: Heat | null;
  /** Each value is a bar from its x to the next one. */
  histogram?: boolean;
}

/** Seconds of a trial in columns, each with its packed histogram of response times (see sketch.ts). */
export interface Zoom {
  /** End of the measured time, which begins at 0. */
  measured_seconds: number;
  from_seconds: number[];
  to_seconds: number[];
  planned: number[];
  completed: number[];
  errors: number[];
  /** Maximum response time of each second, in nanoseconds. */
  max_nanos: number[];
  cells: string[];
}

/** Charts of a selected trial. */
export interface TrialCharts {
  figures: Figure[];
  zoom: Zoom;
  /** Figures by population, label and transaction. */
  tables: TrialTable[];
  /** A sentence for each failed check. */
  check_failures: string[];
}

export interface TrialTable {
  head: string[];
  rows: string[][];
}

export interface Banded {
  value: number;
  low: number;
  high: number;
  band: 'one' | 'range' | 'within_run' | 'repetitions' | 'model';
}

export interface Finding {
  rule: string;
  severity: 'note' | 'warning';
  sentence: string;
  remedy: string | null;
}

export interface LoadLimit {
  kind: string;
  name: string;
  at: Banded | null;
  unit: string;
  how: string;
  robust: boolean | null;
  /** Loads at which the condition holds, if that is no range up to a load. */
  held?: 'none' | 'all';
}

export interface CurvePoint {
  load: number;
  trials: number;
  offered: Banded | null;
  achieved: Banded;
  mean: Banded | null;
  p50: Banded | null;
  p95: Banded | null;
  p99: Banded | null;
  errors: Banded | null;
}

export interface Scalability {
  lambda: Banded;
  sigma: Banded;
  kappa: Banded;
  peak: Banded | null;
  r_squared: number;
  caution: string;
}

export interface Outlier {
  load: number;
  repetition: number | null;
  sentence: string;
}

export interface Reason {
  culprit: string;
  source: string;
  name: string;
  value: number;
  threshold: number;
  side: 'at_least' | 'below';
}

export interface Bottleneck {
  culprit: string;
  sentence: string;
  evidence: Reason[];
  others: string[];
}

export interface Analysed {
  contender: string;
  curve: CurvePoint[];
  limits: LoadLimit[];
  scalability: Scalability | null;
  outliers: Outlier[];
  bottleneck: Bottleneck | null;
}

export type Measure = { run: string | { quantile: number } } | 'server_cpu' | 'capacity';

export interface Compared {
  measure: Measure;
  ours: number;
  theirs: number;
  shift: number | null;
  low: number | null;
  high: number | null;
  p: number | null;
  verdict: 'better' | 'worse' | 'equal' | 'undecided';
  sentence: string;
}

/** The second contender compared with the first; the load is null if each had its own. */
export interface Pair {
  ours: string;
  theirs: string;
  load: number | null;
  measures: Compared[];
  shift: { quantile: number; seconds: number; low: number; high: number }[];
}

export interface Comparison {
  pairs: Pair[];
  differences: string[];
  blocks: number;
  most: number;
}

export interface Analysis {
  contenders: Analysed[];
  conclusions: Finding[];
  findings: Finding[];
  /** Pairs of contenders of a sweep, at each load. */
  pairs: Pair[];
  answers: Answer[];
  comparison: Comparison | null;
}

/** A figure with its 95 % interval, which may be open on one side. */
export interface Interval {
  value: number | null;
  low: number | null;
  high: number | null;
}

/** A trial of a search. */
export interface SearchTrial {
  load: number;
  why: string;
  seconds: number;
  achieved: number;
  sides: ('below' | 'above' | 'undecided')[];
  limited: string | null;
  running_estimate: Interval;
}

/** Result of a search for one contender. */
export interface Answer {
  contender: string;
  sentence: string;
  trials: SearchTrial[];
}

export type State = 'ok' | 'unjudged' | 'busy_machine' | 'unexplained' | 'limited' | 'invalid';

export interface Cause {
  limit: string;
  seconds: number;
  sentence: string;
  remedy: string;
}

export interface Verdict {
  state: State;
  causes: Cause[];
  unseen: string[];
}

export interface Times {
  count: number;
  min: number;
  mean: number;
  p50: number;
  p90: number;
  p95: number;
  p99: number;
  p99_9: number;
  max: number;
  /** Names of figures that are only lower bounds. */
  at_least?: string[];
}

export interface Requests {
  planned: number;
  begun: number;
  completed: number;
  good: number;
  failed: number;
  cut: number;
  dropped: number;
  errors: number;
}

/** A trial. Repetition and step count from 1. */
export interface Trial {
  contender: string;
  repetition: number;
  step: number;
  load: number;
  id: string | null;
  started: string;
  measured_seconds: number;
  offered_per_second: number | null;
  throughput_per_second: number;
  goodput_per_second: number;
  requests: Requests;
  error_share: number | null;
  failures: Record<string, number>;
  response_time_seconds: Times | null;
  verdict: Verdict;
  /** Absent if all consistency checks passed. */
  failed_checks?: { name: string; arithmetic: string }[];
  findings: Finding[];
  bottleneck: Bottleneck | null;
  objectives: { text: string; met: boolean }[];
  warnings: string[];
  interrupted: boolean;
  error: string | null;
  /** Means over the measured time, by source and name. */
  readings: Record<string, Record<string, number>>;
}

export interface Route {
  same_host: boolean | null;
  listener: string | null;
  listener_backlog: number | null;
  listener_descriptors: number | null;
  interface: string | null;
  link_bits_per_second: number | null;
  mtu_bytes: number | null;
}

export interface Environment {
  command: string;
  brunt: string;
  kernel: string;
  cpu: string;
  cores: number;
  limits: Record<string, string>;
  sysctls: Record<string, string>;
  addresses: string[];
  server: string | null;
  route: Route | null;
}

export interface LoadUnit {
  model: 'per_second' | 'users';
  think_seconds?: number | null;
}

export interface ManagedServer {
  start: string;
  stop: string | null;
  restart: string;
  environment: [string, string][];
}

export interface Contender {
  name: string;
  factors: { factor: string; level: string }[];
  unit: LoadUnit;
  loads: number[];
  server: ManagedServer | null;
}

export interface StudyDocument {
  version: number;
  id: string | null;
  name: string;
  about: string;
  started: string;
  interrupted: boolean;
  planned_trials: number;
  environment: Environment;
  experiment: {
    source: string;
    repetitions: number;
    order: string;
    cooldown_seconds: number;
    seed: number;
    contenders: Contender[];
  };
  analysis: Analysis;
  trials: Trial[];
  warnings: string[];
  method: string[];
}

/** A part of a run with charts of its own: a label, a transaction or the like. */
export interface Part {
  /** Kind of the part, as the head of its table. */
  kind: string;
  name: string;
}

/** Content of the page's script element `study`. The charts of each trial are in elements of their own: `trial-0` and following. */
export interface PageData {
  document: StudyDocument;
  figures: Figure[];
  /** The trial whose charts are shown first. */
  shown: number;
  /** Parts of an only run, with their charts in the elements `part-0` and following. */
  parts: Part[];
}

/** A page of tables and charts without a study (crates/report/src/html/dashboard.rs). */
export interface DashboardData {
  title: string;
  facts: [string, string][];
  /** Address and text. */
  links: [string, string][];
  tables: DashboardTable[];
  shares: Shares[];
  sections: { title: string; figures: Figure[] }[];
}

export interface DashboardTable {
  title: string;
  columns: string[];
  rows: DashboardCell[][];
  /** Number of rows at the top that sorting does not move. */
  fixed_rows: number;
}

export interface DashboardCell {
  text: string;
  number: number | null;
}

export interface Shares {
  title: string;
  form: 'pie' | 'bars';
  parts: Share[];
}

export interface Share {
  name: string;
  count: number;
  grade: 'good' | 'fair' | 'poor' | 'bad';
}
