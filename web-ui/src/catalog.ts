// Adds the texts of the report page. It must be imported before the modules that show texts.

import en from '../texts/en/page.ftl?raw';
import zh from '../texts/zh/page.ftl?raw';
import { addCatalog } from './texts';

addCatalog({ en, zh });
