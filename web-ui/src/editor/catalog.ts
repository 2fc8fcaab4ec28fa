// Adds the texts of the editor. It must be imported before the modules that show texts.

import en from '../../texts/en/editor.ftl?raw';
import zh from '../../texts/zh/editor.ftl?raw';
import { addCatalog } from '../texts';

addCatalog({ en, zh });
