// Follows a run or an experiment that goes on, or replays a run: loads what changes on its page, and passes it to the script of the report page. On the page of
// a try, fills in the selected text of a body. On the page of an import, reads files. In the list, shows local times.

const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 10_000;
/** Maximum time of a request. A studio that does not answer must not end the requests for good. */
const MAX_REQUEST_MS = 20_000;

const byId = (id) => document.getElementById(id);

/** Puts a value into a text of the page, in place of the mark. */
const filled = (text, value) => text.replace('\ufffc', () => value);

/** Shows the age of the newest figures, which grows until there are newer ones. */
class Age {
  #newestMs = null;

  constructor() {
    setInterval(() => this.#show(), PAUSE_MS / 2);
  }

  /** Takes the age of figures that have just been loaded, in seconds. */
  take(seconds) {
    this.#newestMs = performance.now() - 1000 * seconds;
    this.#show();
  }

  #show() {
    if (this.#newestMs === null) return;
    const seconds = ((performance.now() - this.#newestMs) / 1000).toFixed(1);
    byId('live-age')?.replaceChildren(filled(byId('live').dataset.age, seconds));
  }
}

const age = byId('live-age') && new Age();

/** Loads what changes on the page at its address, and shows it. Returns whether there will be more. */
async function show() {
  const reply = await fetch(`${location.pathname}/live${location.search}`, {
    credentials: 'same-origin',
    redirect: 'error',
    signal: AbortSignal.timeout(MAX_REQUEST_MS),
  });
  if (!reply.ok) throw new Error(`${reply.status}`);
  const next = new DOMParser().parseFromString(await reply.text(), 'text/html');
  dispatchEvent(new CustomEvent('brunt-follow', { detail: next }));
  const state = next.getElementById('live-state');
  // A replaced link would lose the focus.
  if (state && !state.isEqualNode(byId('live-state'))) byId('live-state')?.replaceChildren(...document.importNode(state, true).childNodes);
  const seconds = reply.headers.get('brunt-age');
  if (seconds) age?.take(Number(seconds));
  return next.getElementById('live') !== null;
}

const fails = (error) => byId('live-state')?.replaceChildren(filled(byId('live').dataset.silent, error.message));

const pausing = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Shows an active run or experiment until it is over. */
async function follow() {
  let pause = PAUSE_MS;
  for (;;) {
    await pausing(pause);
    // A page that nobody sees needs no figures.
    if (document.hidden) continue;
    const began = performance.now();
    try {
      if (!(await show())) {
        const { over, load } = byId('live').dataset;
        const link = Object.assign(document.createElement('a'), { href: location.pathname + location.search, textContent: load });
        byId('live').replaceChildren(`${over} `, link);
        return;
      }
      // Pages that are slow take at most a tenth of the time; a single slow one must not stop the figures for long.
      pause = Math.min(MAX_PAUSE_MS, Math.max(PAUSE_MS, 9 * (performance.now() - began)));
    } catch (error) {
      fails(error);
      pause = Math.min(MAX_PAUSE_MS, pause * 2);
    }
  }
}

/** Shows a run that is over as it was at the instant of the slider, which moves while it plays. */
class Replay {
  #slider = byId('replay').elements.at;
  #play = byId('replay-play');
  #speed = byId('replay-speed');
  #isPlaying = false;
  /** The instant that is being loaded; null if none is. */
  #loading = null;

  constructor() {
    byId('replay').addEventListener('submit', (event) => (event.preventDefault(), void this.#load()));
    this.#slider.addEventListener('input', () => void this.#load());
    this.#play.addEventListener('click', () => (this.#isPlaying ? this.#stop() : void this.#start()));
  }

  async #start() {
    this.#isPlaying = true;
    this.#play.textContent = this.#play.dataset.pause;
    if (this.#slider.value === this.#slider.max) this.#slider.value = 0;
    while (this.#isPlaying) {
      const began = performance.now();
      await pausing(PAUSE_MS);
      if (document.hidden) continue;
      const passed = (performance.now() - began) / 1000;
      this.#slider.value = Number(this.#slider.value) + passed * Number(this.#speed.value);
      await this.#load();
      if (this.#slider.value === this.#slider.max) this.#stop();
    }
  }

  #stop() {
    this.#isPlaying = false;
    this.#play.textContent = this.#play.dataset.play;
  }

  /** Loads the page at the slider. Of several moves during a load, only the last one is loaded. */
  async #load() {
    if (this.#loading !== null) return;
    while (this.#loading !== this.#slider.value) {
      this.#loading = this.#slider.value;
      const address = new URL(location.href);
      address.searchParams.set('at', Number(this.#loading).toFixed(3));
      history.replaceState(null, '', address);
      const choice = document.querySelector('form.language')?.elements;
      if (choice) choice.address.value = address.pathname + address.search;
      try {
        await show();
      } catch (error) {
        fails(error);
      }
    }
    this.#loading = null;
  }
}

/** Fills the selected text of a body and its offset into the form above the body. */
function fillSelection() {
  const selection = getSelection();
  const text = selection?.toString() ?? '';
  const body = selection?.anchorNode?.parentElement?.closest('pre.body');
  const fields = body?.closest('section')?.querySelector('form.body')?.elements;
  if (!fields || text === '') return;
  const before = document.createRange();
  before.setStart(body, 0);
  before.setEnd(selection.getRangeAt(0).startContainer, selection.getRangeAt(0).startOffset);
  fields.selected.value = text;
  fields.from.value = Number(body.dataset.offset) + new TextEncoder().encode(before.toString()).length;
}

/** Reads a file into the field of the input to import. */
async function readInput(file) {
  const text = byId('import').elements.text;
  text.value = await file.text();
  text.focus();
}

function takeFiles() {
  byId('import-file').addEventListener('change', ({ target }) => void (target.files[0] && readInput(target.files[0])));
  const text = byId('import').elements.text;
  text.addEventListener('dragover', (event) => event.preventDefault());
  text.addEventListener('drop', (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    void readInput(file);
  });
}

/** Shows the times of a list in the time zone of the browser. */
function showLocalTimes() {
  const two = (number) => String(number).padStart(2, '0');
  for (const time of document.querySelectorAll('time.local')) {
    const at = new Date(time.dateTime);
    const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
    time.textContent = `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
    time.title = time.dateTime;
  }
  for (const title of document.querySelectorAll('[data-local]')) title.textContent = title.dataset.local;
}

showLocalTimes();
if (byId('import')) takeFiles();
if (document.querySelector('pre.body')) document.addEventListener('selectionchange', fillSelection);
if (byId('replay')) new Replay();
else if (byId('live')) void follow();
