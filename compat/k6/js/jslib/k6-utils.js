// The exports of https://jslib.k6.io/k6-utils, by their documentation.
import exec from 'k6/execution';

export const uuidv4 = () => crypto.randomUUID();

export const randomIntBetween = (min, max) => Math.floor(Math.random() * (max - min + 1) + min);

export const randomItem = (items) => items[Math.floor(Math.random() * items.length)];

export function randomString(length, charset = 'abcdefghijklmnopqrstuvwxyz') {
  let text = '';
  while (text.length < length) text += charset[Math.floor(Math.random() * charset.length)];
  return text;
}

export function findBetween(content, left, right, repeat = false) {
  const found = [];
  for (let from = 0; ; ) {
    const begin = content.indexOf(left, from);
    const end = begin < 0 ? -1 : content.indexOf(right, begin + left.length);
    if (end < 0) break;
    found.push(content.slice(begin + left.length, end));
    if (!repeat) return found[0];
    from = end + right.length;
  }
  return repeat ? found : null;
}

export function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
  const density = (x) => Math.exp(-0.5 * x ** 2) / Math.sqrt(2 * Math.PI);
  const places = Array.from({ length: numberOfStages + 2 }, (_, i) => -2 + (4 * i) / numberOfStages);
  const peak = density(0);
  const stages = places.map((x) => ({ duration: `${Math.round(durationSeconds / (numberOfStages + 2))}s`, target: Math.round((maxVus * density(x)) / peak) }));
  return [...stages.slice(0, -1), { duration: '0s', target: 0 }];
}

const seconds = (duration) => {
  const units = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86400 };
  return [...String(duration).matchAll(/([\d.]+)(ms|[smhd])/g)].reduce((sum, [, number, unit]) => sum + Number(number) * units[unit], 0);
};

export function getCurrentStageIndex() {
  const { scenario, test } = exec;
  const { stages } = test.options.scenarios[scenario.name] ?? {};
  if (!stages) throw new Error(`getCurrentStageIndex(): the scenario ${scenario.name} has no stages`);
  const elapsed = (Date.now() - scenario.startTime) / 1000;
  let end = 0;
  const index = stages.findIndex(({ duration }) => {
    end += seconds(duration);
    return elapsed < end;
  });
  return index < 0 ? stages.length - 1 : index;
}

export function tagWithCurrentStageIndex() {
  exec.vu.metrics.tags.stage = String(getCurrentStageIndex());
}

export function tagWithCurrentStageProfile() {
  const { scenario, test } = exec;
  const { stages, startVUs, startRate } = test.options.scenarios[scenario.name] ?? {};
  if (!stages) throw new Error(`tagWithCurrentStageProfile(): the scenario ${scenario.name} has no stages`);
  const index = getCurrentStageIndex();
  const before = index === 0 ? startVUs ?? startRate ?? 0 : stages[index - 1].target;
  const { target } = stages[index];
  exec.vu.metrics.tags.stage_profile = target > before ? 'ramp-up' : target < before ? 'ramp-down' : 'steady';
}
