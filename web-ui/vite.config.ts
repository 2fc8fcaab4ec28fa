// Builds one HTML file with scripts and styles, in the folder from which the crate `report` includes it.

/// <reference types="vitest/config" />
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { FluentBundle, FluentResource } from '@fluent/bundle';
import { defineConfig, type Plugin } from 'vite';
import { packageLicense } from './licenses';

/** Bundled packages; the page contains their licenses. */
const BUNDLED = ['uplot', '@fluent/bundle'];

const licences = (): string =>
  BUNDLED.map((name) => {
    const { version, license, text } = packageLicense(fileURLToPath(new URL(`./node_modules/${name}`, import.meta.url)));
    return `${name} ${version}, ${license}\n\n${text}\n`;
  }).join('\n');

/** A text of a catalog. */
function catalogText(language: string, id: string): string {
  const bundle = new FluentBundle(language);
  bundle.addResource(new FluentResource(readFileSync(new URL(`./texts/${language}/page.ftl`, import.meta.url), 'utf8')));
  const pattern = bundle.getMessage(id)?.value;
  if (typeof pattern !== 'string') throw new Error(`texts/${language}/page.ftl has no text \`${id}\` without arguments`);
  return pattern;
}

/** Writes texts that are shown without scripts: in both languages, because the style sheet knows the language of the page. */
const staticTexts = (): Plugin => ({
  name: 'static-texts',
  transformIndexHtml: (html) =>
    html.replace(/<!--TEXT ([a-z-]+)-->/g, (_, id: string) =>
      ['en', 'zh'].map((language) => `<p lang="${language}">${catalogText(language, id)}</p>`).join(''),
    ),
});

/** A script within a page ends at the first `</script`. */
const safe = (code: string): string => code.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');

/** Embeds scripts and styles in the page, the script at its end, after the data. */
const oneFile = (): Plugin => ({
  name: 'one-file',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const page = bundle['index.html'];
    if (page?.type !== 'asset') throw new Error('vite made no index.html');
    let html = String(page.source).replace(/\s*<(script|link)\b[^>]*(src|href)="\/[^>]*>(<\/script>)?/g, '');
    for (const [file, part] of Object.entries(bundle)) {
      if (part === page) continue;
      const into: [string, string] =
        part.type === 'chunk'
          ? ['</body>', `<script type="module">${safe(part.code.trim())}</script>\n  </body>`]
          : ['</head>', `  <style>${String(part.source).trim()}</style>\n  </head>`];
      html = html.replace(into[0], () => into[1]);
      delete bundle[file];
    }
    html = html.replace('</head>', () => `  <script type="text/plain" id="licences">\n${licences()}</script>\n  </head>`);
    page.source = html;
    page.fileName = 'page.html';
  },
});

export default defineConfig({
  plugins: [staticTexts(), oneFile()],
  test: { setupFiles: ['test/catalogs.ts'] },
  build: {
    outDir: '../crates/report/src/html',
    emptyOutDir: false,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
