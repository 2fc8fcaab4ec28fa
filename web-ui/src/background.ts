// Plan, machine and method for repeating the measurement, and the licenses of the page.

import { folded, h, isRunPage } from './dom';
import { plain, value } from './format';
import { list } from './list';
import { simpleTable } from './table';
import { text } from './texts';
import type { Contender, Environment, StudyDocument } from './types';

export function plan({ experiment, environment }: StudyDocument): HTMLElement | null {
  const source = experiment.source.trim();
  const shown = source ? h('pre', { tabindex: 0, role: 'group', 'aria-label': text('plan-source') }, source) : null;
  // A run has one load, which its first sentence has. Its command line is a fact of the environment.
  if (isRunPage()) return folded('plan', text('section-plan'), source === environment.command ? null : shown);
  const rows = experiment.contenders.map((c) => [
    c.name,
    list(c.factors.map(({ factor, level }) => `${factor}: ${level}`)),
    loadsText(c),
    c.server ? h('code', {}, c.server.start) : '',
  ]);
  return folded(
    'plan',
    text('section-plan'),
    simpleTable([text('column-contender'), text('column-factors'), text('column-loads'), text('column-server')], rows, text('plan-caption')),
    h('p', { class: 'hint' }, arrangement(experiment)),
    shown,
  );
}

/** The loads of a contender, at most the first and the last ones. */
function loadsText({ loads, unit }: Contender): string {
  const all = loads.map(plain);
  const shown = all.length > 6 ? `${list([...all.slice(0, 3), '…'])} ${all.at(-1)} (${all.length})` : list(all);
  return unit.model === 'users' ? text('plan-loads-users', { loads: shown }) : text('plan-loads-rate', { loads: shown });
}

/** Name of an order of trials. */
function orderName(order: string): string {
  if (order === 'interleaved') return text('order-interleaved');
  if (order === 'blocks') return text('order-blocks');
  return order === 'random' ? text('order-random') : order;
}

function arrangement(experiment: StudyDocument['experiment']): string {
  const { repetitions, cooldown_seconds } = experiment;
  const order = orderName(experiment.order);
  const seed = String(experiment.seed);
  if (cooldown_seconds <= 0) return text('plan-arrangement', { repetitions, order, seed });
  return text('plan-arrangement-with-rest', { repetitions, order, rest: `${plain(cooldown_seconds)} s`, seed });
}

export function environment({ environment }: StudyDocument): HTMLElement | null {
  const facts: [string, string | null][] = [
    [text('environment-command'), environment.command],
    [text('environment-brunt'), environment.brunt],
    [text('environment-server'), environment.server],
    [text('environment-addresses'), list(environment.addresses)],
    [text('environment-kernel'), environment.kernel],
    [text('environment-cpu'), environment.cpu],
    [text('environment-cores'), plain(environment.cores)],
    ...route(environment),
  ];
  const rows = facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
  const heads = [text('column-name'), text('column-value')];
  const pairs = (title: string, all: Record<string, string>) =>
    Object.keys(all).length > 0 && h('details', { class: 'print-open' }, h('summary', {}, title), simpleTable(heads, Object.entries(all), title));
  return folded(
    'environment',
    text('section-environment'),
    simpleTable(heads, rows, text('environment-caption')),
    pairs(text('environment-limits'), environment.limits),
    pairs(text('environment-sysctls'), environment.sysctls),
  );
}

function route({ route }: Environment): [string, string | null][] {
  if (!route) return [];
  const speed = route.link_bits_per_second;
  const way = [route.interface, speed ? `${value(speed / 8, 'bytes_per_second')}` : null, route.mtu_bytes ? `MTU ${plain(route.mtu_bytes)} B` : null];
  return [
    [text('environment-route'), list(way.filter((part) => part !== null))],
    [text('environment-same-host'), route.same_host === null ? null : route.same_host ? text('yes') : text('no')],
    [text('environment-listener'), route.listener],
    [text('environment-backlog'), route.listener_backlog === null ? null : plain(route.listener_backlog)],
  ];
}

export const method = ({ method }: StudyDocument): HTMLElement | null =>
  folded('method', text('section-method'), method.length > 0 && h('ul', {}, ...method.map((sentence) => h('li', {}, sentence))));

export function licences(): HTMLElement | null {
  const content = document.getElementById('licences')?.textContent?.trim();
  return folded('licences', text('section-licenses'), content && h('pre', { tabindex: 0, role: 'group', 'aria-label': text('licenses-summary') }, content));
}
