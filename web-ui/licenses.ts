// Licenses of bundled packages, which the built files must contain.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface PackageLicense {
  name: string;
  version: string;
  /** SPDX identifier. */
  license: string;
  text: string;
}

/** License of the package in a folder. A package without its text has Apache-2.0, whose text is the same for all packages. */
export function packageLicense(folder: string): PackageLicense {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Omit<PackageLicense, 'text'>;
  const file = `${folder}/LICENSE`;
  if (!existsSync(file) && license !== 'Apache-2.0') throw new Error(`${name} ${version}: no file LICENSE`);
  const source = existsSync(file) ? file : fileURLToPath(new URL('../LICENSE-APACHE', import.meta.url));
  return { name, version, license, text: readFileSync(source, 'utf8').trim() };
}
