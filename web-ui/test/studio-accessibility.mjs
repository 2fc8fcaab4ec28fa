// Checks the pages of the studio with axe-core: `node test/studio-accessibility.mjs FILE [PICTURES]`. FILE is JSON: `origin` of the
// studio, `cookie` of a visitor, paths of `pages` of this visitor and of `open` pages without the cookie, a `plan` file, and paths of
// `reports`, which are opened as files. Each page is checked in English, in a wide light view and in a narrow dark one; in Chinese, that it
// fits both and states its language. With PICTURES, each page is checked in both languages and in all views, with a screenshot.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { assertNone, checkAccessibility, hasAxe, VIEWS } from './accessibility.mjs';

const [file, pictures] = process.argv.slice(2);
const { origin, cookie, pages, open, plan, reports } = JSON.parse(readFileSync(file, 'utf8'));
const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
if (pictures) mkdirSync(pictures, { recursive: true });
if (!hasAxe) throw new Error('BRUNT_AXE names no file (sh tools/axe.sh FILE)');

/** Views with both sizes and both schemes of colors. */
const views = VIEWS.filter((_, i) => pictures || [0, 3].includes(i));

/** Rules to check; undefined for all. Both languages have the same elements and styles. */
const rulesOf = (language) => (pictures || language === 'en' ? undefined : ['html-has-lang', 'html-lang-valid', 'document-title']);

/** The tab of a viewer, which opens one page after the other: a new tab for each would start a process of Chromium. */
async function openTab(locale, cookies = []) {
  const context = await browser.newContext({ locale });
  await context.addCookies(cookies);
  // Pages of processes that go on are loaded again each second; a check takes longer.
  await context.route(/\/(record|starting|tries)\/\d+/, async (route) => {
    const response = await route.fetch();
    const { refresh, ...headers } = response.headers();
    await route.fulfill({ response, headers });
  });
  const tab = await context.newPage();
  // The editor asks before it loses a changed text.
  tab.on('dialog', (dialog) => dialog.accept());
  return tab;
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const found = [];

/** Opens a page, waits until its scripts have drawn it, and checks it. `prepare` brings it into another state. */
async function check(page, language, path, prepare = async () => {}, name = path) {
  await page.goto(new URL(path, origin).href);
  await page.locator('main').first().waitFor();
  // The page of a run has a static part for browsers without scripts.
  await page.locator('#still').waitFor({ state: 'detached' });
  if ((await page.locator('#edit').count()) > 0) await page.locator('[role=treeitem]').first().waitFor();
  await prepare(page);
  const shoot = async (view) => {
    if (!pictures) return;
    const title = name.replaceAll(/\W+/g, '-').slice(0, 60);
    await page.screenshot({ path: join(pictures, `${language}${title}-${view}.png`), fullPage: true });
  };
  const violations = await checkAccessibility(page, `${language} ${name}`, views, { shoot, rules: rulesOf(language) });
  for (const violation of violations) console.log(violation);
  found.push(...violations);
}

/** States of pages that have no address. */
const STATES = {
  'a form of a step': ['edit', async (page) => {
    await page.locator('[role=treeitem]').last().click();
    await page.locator('.plan-form .setting').first().waitFor();
  }],
  'kinds of elements': ['edit', async (page) => {
    await page.locator('[role=treeitem]').first().focus();
    await page.keyboard.press('+');
    await page.locator('.plan-add [role=option]').first().waitFor();
  }],
  'a disabled step': ['edit', async (page) => {
    await page.locator('[role=treeitem]', { hasText: 'home' }).first().click();
    await page.keyboard.press('e');
    await page.locator('.plan-row.is-disabled').first().waitFor();
  }],
  'a text with an error': ['edit', async (page) => {
    await page.locator('.cm-content').click();
    await page.keyboard.type('load: [');
    await page.locator('.plan-outdated:visible').waitFor();
    await page.locator('#problems li').first().waitFor();
  }],
  'a file that changed': ['edit', async (page) => {
    writeFileSync(plan, `${readFileSync(plan, 'utf8')}# Changed.\n`);
    await page.locator('#edit button').first().click();
    await page.locator('p.problem').waitFor();
  }],
  'a plan of an input': ['import', async (page) => {
    await page.locator('textarea').fill("curl http://127.0.0.1:9/ -H 'Authorization: Bearer secret-81'");
    await page.locator('#import button').click();
    await page.locator('[role=treeitem]').first().waitFor();
  }],
  'an unknown input': ['import', async (page) => {
    await page.locator('textarea').fill('?');
    await page.locator('#import button').click();
    await page.locator('p.problem').waitFor();
  }],
};

try {
  for (const [language, locale] of [['en', 'en-US'], ['zh', 'zh-CN']]) {
    const visitor = await openTab(locale, [{ ...cookie, url: origin }]);
    const start = Date.now();
    for (const path of pages) await check(visitor, language, path);
    for (const [name, [page, prepare]] of Object.entries(STATES)) {
      await check(visitor, language, page === 'edit' ? `/edit?file=${encodeURIComponent(plan)}` : `/${page}`, prepare, name);
    }
    const stranger = await openTab(locale);
    for (const path of open) await check(stranger, language, path, undefined, `without a cookie, ${path}`);
    for (const [i, path] of reports.entries()) {
      const reply = await visitor.request.get(origin + path, { headers: { 'accept-language': locale } });
      const saved = join(dirname(file), `report-${language}-${i}.html`);
      writeFileSync(saved, await reply.body());
      await check(stranger, language, pathToFileURL(saved).href, undefined, `a file of ${path}`);
    }
    const count = pages.length + Object.keys(STATES).length + open.length + reports.length;
    console.log(`${language}: ${count} pages, ${Math.round((Date.now() - start) / 1000)} s`);
  }
  assertNone(found);
} finally {
  await browser.close();
}
