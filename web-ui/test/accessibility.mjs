// Finds violations of accessibility with axe-core. BRUNT_AXE is its file, which tools/axe.sh downloads; without it, no page is
// checked.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const { BRUNT_AXE } = process.env;
const source = BRUNT_AXE ? readFileSync(BRUNT_AXE, 'utf8') : null;

/** True if pages can be checked. */
export const hasAxe = source !== null;

/** Sizes of windows and schemes of colors in which pages are checked. */
export const VIEWS = [1280, 375].flatMap((width) => ['light', 'dark'].map((colorScheme) => ({ width, colorScheme })));

/** Violations of an open page as texts: rule, impact, and the first elements. `rules` are ids of axe-core; without them, all are checked. */
export async function violations(page, rules) {
  if (!source) return [];
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source);
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const found = await page.evaluate(async (options) => (await window.axe.run(document, options)).violations, options);
  return found.map(({ id, impact, nodes }) => {
    const places = nodes.slice(0, 3).map((node) => `    ${node.target.join(' ')}: ${node.any[0]?.message ?? node.html}`);
    return `${id} (${impact}), ${nodes.length} elements:\n${places.join('\n')}`;
  });
}

/** Opens all parts of a page that can be opened. */
export const openDetails = (page) => page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));

/**
 * Violations of a page in each of the views, also if it is wider than its window. All its parts are opened, unless `isOpened` is
 * false. `shoot` is called in each view.
 */
export async function checkAccessibility(page, name, views = VIEWS, { isOpened = true, rules, shoot = async () => {} } = {}) {
  if (isOpened) await openDetails(page);
  const found = [];
  for (const { width, colorScheme } of views) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    // Charts get their new size and colors.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const view = `${name}, ${width} px, ${colorScheme}`;
    found.push(...(await violations(page, rules)).map((text) => `${view}: ${text}`));
    const scrolled = await page.evaluate(() => document.documentElement.scrollWidth);
    if (scrolled > width) found.push(`${view}: the page is ${scrolled} px wide`);
    await shoot(`${width}-${colorScheme}`);
  }
  return found;
}

/** Fails with a list of violations. */
export const assertNone = (found) => assert.ok(found.length === 0, `${found.length} violations:\n${found.join('\n')}`);
