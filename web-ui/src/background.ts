// Plan, machine and method for repeating the measurement, and the licenses of the page.

import { h, section } from './dom';
import { plain, value } from './format';
import { simpleTable } from './table';
import type { Contender, Environment, StudyDocument } from './types';

export function plan({ experiment }: StudyDocument): HTMLElement | null {
  const loads = (c: Contender) => (c.loads.length > 6 ? `${c.loads.slice(0, 3).map(plain).join(', ')}, … ${c.loads.slice(-1).map(plain).join('')} (${c.loads.length})` : c.loads.map(plain).join(', '));
  const rows = experiment.contenders.map((c) => [
    c.name,
    c.factors.map(({ factor, level }) => `${factor}: ${level}`).join(', '),
    `${loads(c)} ${c.unit.model === 'users' ? 'users' : '/s'}`,
    c.server ? h('code', {}, c.server.start) : '',
  ]);
  const text = experiment.source.trim();
  return section(
    'plan',
    'Plan',
    simpleTable(['Contender', 'Factors', 'Loads', 'Server'], rows, 'Contenders'),
    h('p', { class: 'hint' }, arrangement(experiment)),
    text ? h('pre', { tabindex: 0, 'aria-label': 'The plan as it was written' }, text) : null,
  );
}

const arrangement = ({ repetitions, order, cooldown_seconds, seed }: StudyDocument['experiment']): string =>
  [
    `Each step ${repetitions === 1 ? 'once' : `${plain(repetitions)} times`}, order: ${order}`,
    cooldown_seconds > 0 ? `${plain(cooldown_seconds)} s of rest between trials` : '',
    `seed ${seed}`,
  ]
    .filter(Boolean)
    .join('; ') + '.';

export function environment({ environment }: StudyDocument): HTMLElement | null {
  const facts: [string, string | null][] = [
    ['Command', environment.command],
    ['brunt', environment.brunt],
    ['Server software', environment.server],
    ['Addresses', environment.addresses.join(', ')],
    ['Kernel', environment.kernel],
    ['CPU', environment.cpu],
    ['Cores that brunt may use', plain(environment.cores)],
    ...route(environment),
  ];
  const rows = facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
  const pairs = (title: string, all: Record<string, string>) =>
    Object.keys(all).length > 0 && h('details', { class: 'print-open' }, h('summary', {}, title), simpleTable(['Name', 'Value'], Object.entries(all), title));
  return section(
    'environment',
    'Environment',
    simpleTable(['Name', 'Value'], rows, 'The machine of the generator'),
    pairs('Limits of the process', environment.limits),
    pairs('Kernel settings', environment.sysctls),
  );
}

function route({ route }: Environment): [string, string | null][] {
  if (!route) return [];
  const speed = route.link_bits_per_second;
  const way = [route.interface, speed ? `${value(speed / 8, 'bytes_per_second')}` : null, route.mtu_bytes ? `MTU ${plain(route.mtu_bytes)} B` : null];
  return [
    ['Route to the server', way.filter(Boolean).join(', ')],
    ['Server on the same machine', route.same_host === null ? null : route.same_host ? 'yes' : 'no'],
    ['Listener', route.listener],
    ['Accept queue', route.listener_backlog === null ? null : plain(route.listener_backlog)],
  ];
}

export const method = ({ method }: StudyDocument): HTMLElement | null =>
  section('method', 'Method', method.length > 0 && h('ul', {}, ...method.map((sentence) => h('li', {}, sentence))));

export function licences(): HTMLElement | null {
  const text = document.getElementById('licences')?.textContent?.trim();
  return section('licences', 'Licences', text && h('details', {}, h('summary', {}, 'Of what this page contains'), h('pre', {}, text)));
}
