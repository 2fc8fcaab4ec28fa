// Follows a run that goes on: loads its page again, and passes it to the script of the report page.

const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 10_000;

const live = () => document.getElementById('live');

/** Loads the page once more. Returns whether the run goes on. */
async function follow() {
  const reply = await fetch(location.pathname, { credentials: 'same-origin', redirect: 'error' });
  if (!reply.ok) throw new Error(`${reply.status}`);
  const next = new DOMParser().parseFromString(await reply.text(), 'text/html');
  dispatchEvent(new CustomEvent('brunt-follow', { detail: next }));
  const state = next.getElementById('live-state');
  const shown = document.getElementById('live-state');
  if (state && shown) shown.textContent = state.textContent;
  return next.getElementById('live') !== null;
}

async function keepFollowing() {
  let pause = PAUSE_MS;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    // A page that nobody sees needs no figures.
    if (document.hidden) continue;
    const began = performance.now();
    try {
      if (!(await follow())) {
        live()?.replaceChildren('The run is over. ', Object.assign(document.createElement('a'), { href: location.pathname, textContent: 'Load its page' }));
        return;
      }
      // The pages take at most a tenth of the time.
      pause = Math.max(PAUSE_MS, 9 * (performance.now() - began));
    } catch (error) {
      const shown = document.getElementById('live-state');
      if (shown) shown.textContent = `no figures: the studio does not answer (${error.message})`;
      pause = Math.min(MAX_PAUSE_MS, pause * 2);
    }
  }
}

if (live()) void keepFollowing();
