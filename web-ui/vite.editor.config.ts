// Builds the editor of plans as one script, in the folder from which the crate `web` includes it.

import { defineConfig, type Plugin } from 'vite';
import { packageLicense } from './licenses';

/** Folder and name of the package that contains a module; null for our own modules. */
const packageOf = (module: string): string | null => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(module)?.[0] ?? null;

/** Licenses of packages: packages with the same text are listed above it. */
function licenses(folders: string[]): string {
  const names = new Map<string, string[]>();
  for (const folder of folders) {
    const { name, version, text } = packageLicense(folder);
    names.set(text, [...(names.get(text) ?? []), `${name} ${version}`]);
  }
  return [...names].map(([license, packages]) => `${packages.join(', ')}\n\n${license}`).join('\n\n---\n\n');
}

/** Writes the licenses of all bundled packages at the beginning of the script. */
const withLicenses = (): Plugin => ({
  name: 'with-licenses',
  enforce: 'post',
  generateBundle(_options, bundle) {
    for (const part of Object.values(bundle)) {
      if (part.type !== 'chunk') throw new Error(`vite wrote ${part.fileName} in addition to the script`);
      const used = Object.entries(part.modules).filter(([, module]) => module.renderedLength > 0);
      const folders = used.map(([name]) => packageOf(name)).filter((folder) => folder !== null);
      const text = licenses([...new Set(folders)].sort()).replaceAll('*/', '* /');
      part.code = `/*!\nBundled packages and their licenses:\n\n${text}\n*/\n${part.code.trim()}\n`;
    }
  },
});

export default defineConfig({
  plugins: [withLicenses()],
  publicDir: false,
  build: {
    outDir: '../crates/web/src',
    emptyOutDir: false,
    target: 'es2022',
    modulePreload: false,
    reportCompressedSize: false,
    // All parts of the editor are needed at once.
    chunkSizeWarningLimit: 1000,
    // The library mode of Vite keeps white space in ES modules.
    rollupOptions: {
      input: 'src/editor/main.ts',
      output: { entryFileNames: 'editor.js', inlineDynamicImports: true },
    },
  },
});
