// Adds the texts that the scripts of the page and of the editor add when they begin.

import '../src/catalog';
import '../src/editor/catalog';
