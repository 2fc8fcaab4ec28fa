// Measures the studio in a browser: `node test/targets.mjs LINK ACTIVE KEPT LARGE JMX PID`. LINK admits the browser; ACTIVE is a run that goes
// on, KEPT a stored run of an hour, LARGE a plan whose request has a large reply, JMX a large plan of JMeter, PID the process of ACTIVE. Prints a
// row of a table for each target: what was measured, the median and the range of its results, the target, and whether it is met.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [link, active, kept, large, jmx, pid] = process.argv.slice(2);
const origin = new URL(link).origin;
const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const ROUNDS = 5;
const TABS = 8;
/** Time for which viewers look at the run. */
const VIEWED_SECONDS = 20;

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
let code = 0;

/** Prints the row of a target. */
function row(what, results, target, unit) {
  const sorted = results.toSorted((a, b) => a - b);
  const median = sorted[Math.floor((sorted.length - 1) / 2)];
  const met = median <= target;
  if (!met) code = 1;
  const text = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
  console.log(`| ${what} | ${text(median)} (${text(sorted[0])}–${text(sorted.at(-1))}) ${unit} | ${target} ${unit} | ${met ? 'yes' : 'no'} |`);
}

/** Opens an address; returns the time until an element is there and drawn, in milliseconds from the beginning of the navigation, as the page measures it. */
async function opened(page, path, selector) {
  await page.goto(origin + path, { waitUntil: 'commit' });
  return page.evaluate(
    (wanted) =>
      new Promise((resolve) => {
        // The editor is in a shadow root.
        const roots = () => [document, ...[...document.querySelectorAll('#edit *')].flatMap((element) => element.shadowRoot ?? [])];
        const look = () => {
          if (roots().some((root) => root.querySelector(wanted))) setTimeout(() => resolve(performance.now()));
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }),
    selector,
  );
}

async function repeated(measure) {
  const results = [];
  for (let i = 0; i < ROUNDS; i++) results.push(await measure(i));
  return results;
}

/** Private memory of the largest process of a tab, in megabytes. */
function tabMegabytes() {
  let largest = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer')) continue;
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      const kilobytes = [...rollup.matchAll(/^Private_\w+: +(\d+)/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
      largest = Math.max(largest, kilobytes / 1000);
    } catch {
      // The process has ended.
    }
  }
  return largest;
}

/** Processor time of the active run so far. */
function cpuSeconds() {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

try {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 } });
  const page = await context.newPage();
  await page.goto(link);
  await page.waitForURL(`${origin}/`);
  const loaded = await page.evaluate(() => performance.now());
  row('first page, with the start of the session', [loaded], 500, 'ms');

  await opened(page, `/runs/${kept}`, '#page main');
  row('page of a kept hour with 100 labels', await repeated(() => opened(page, `/runs/${kept}`, '#page main')), 500, 'ms');

  // Tabs that show the active run load its figures every second.
  const tabs = [];
  for (let i = 0; i < TABS; i++) {
    const tab = await context.newPage();
    await opened(tab, `/runs/${active}`, '#page main');
    tabs.push(tab);
  }
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const addresses = { 'the active run': [`/runs/${active}`, '#page main'], 'the list': ['/', '.runs'], 'the start form': ['/start', 'form'] };
  for (const [name, [path, selector]] of Object.entries(addresses)) {
    const times = await repeated(async (i) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      const time = await opened(tabs[i], path, selector);
      if (path !== `/runs/${active}`) await opened(tabs[i], `/runs/${active}`, '#page main');
      return time;
    });
    row(`${TABS} tabs of the active run: navigation to ${name}`, times, 200, 'ms');
  }
  const tab = tabs[0];
  await tab.bringToFront();
  const ages = await repeated(async () => {
    await new Promise((resolve) => setTimeout(resolve, 700));
    return tab.evaluate(() => Number(/[\d.]+/.exec(document.getElementById('live-age').textContent)[0]));
  });
  row('age of the newest point', ages, 2, 's');
  const longest = await tab.evaluate(
    () =>
      new Promise((resolve) => {
        const tasks = [0];
        new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ entryTypes: ['longtask'] });
        let steps = 0;
        const step = () => {
          scrollBy(0, steps % 40 < 20 ? 300 : -300);
          if (++steps < 300) requestAnimationFrame(step);
          else setTimeout(() => resolve(Math.max(...tasks)), 100);
        };
        step();
      }),
  );
  row('longest task while the active run is scrolled', [longest], 50, 'ms');
  row('private memory of the largest tab', [tabMegabytes()], 250, 'MB');
  for (const open of tabs) await open.close();

  // Viewers without a browser: each loads the page of the run once per second.
  const share = async () => {
    const before = cpuSeconds();
    await new Promise((resolve) => setTimeout(resolve, VIEWED_SECONDS * 1000));
    return ((cpuSeconds() - before) / VIEWED_SECONDS) * 100;
  };
  const alone = await share();
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
  const viewers = Array.from({ length: 10 }, async (_, i) => {
    await new Promise((resolve) => setTimeout(resolve, i * 100));
    for (let look = 0; look < VIEWED_SECONDS; look++) {
      const [reply] = await Promise.all([
        fetch(`${origin}/runs/${active}`, { headers: { cookie } }).then((reply) => reply.text().then(() => reply)),
        new Promise((resolve) => setTimeout(resolve, 1000)),
      ]);
      if (!reply.ok) throw new Error(`${reply.status}`);
    }
  });
  const viewed = await share();
  await Promise.all(viewers);
  console.log(`| CPU of the run without viewers, of one core | ${alone.toFixed(1)} % | – | – |`);
  row('more CPU of the run with ten viewers, of one core', [Math.max(viewed - alone, 0)], 1, '%');

  await page.goto(`${origin}/start?target=${encodeURIComponent(large)}`);
  await page.getByRole('button', { name: 'Try once' }).click();
  await page.waitForURL(/\/tries\/\d+/);
  await page.locator('pre.body').waitFor({ timeout: 60_000 });
  const address = new URL(page.url());
  const path = address.pathname + address.search;
  row('reply of 100 MB', await repeated(() => opened(page, path, 'pre.body')), 300, 'ms');
  row('search in all of it', await repeated(() => opened(page, `${path}${address.search ? '&' : '?'}search=zzz`, 'pre.body')), 2000, 'ms');

  const edit = `/edit?file=${encodeURIComponent(jmx)}`;
  row('editor of a .jmx of 5 MB with a parameter of 600 kB', await repeated(() => opened(page, edit, '.cm-content')), 1000, 'ms');
  await page.locator('[role=treeitem]').first().click();
  // Expands the plan and its first group, whose elements are the samplers.
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowRight');
  await page.locator('[role=treeitem]', { hasText: 'page 9' }).first().waitFor();
  const forms = await repeated((i) =>
    page.evaluate(
      (place) =>
        new Promise((resolve) => {
          const item = document.querySelectorAll('[role=treeitem]')[place];
          const form = document.querySelector('.plan-form-body');
          const drawn = () => requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
          new MutationObserver(drawn).observe(form, { childList: true, subtree: true });
          const began = performance.now();
          item.click();
        }),
      4 + i,
    ),
  );
  row('form of an element of it', forms, 50, 'ms');
} finally {
  await browser.close();
}
process.exit(code);
