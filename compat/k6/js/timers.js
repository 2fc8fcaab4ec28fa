export const setTimeout = globalThis.setTimeout;
export const setInterval = globalThis.setInterval;
export const clearTimeout = globalThis.clearTimeout;
export const clearInterval = globalThis.clearInterval;

export default { setTimeout, setInterval, clearTimeout, clearInterval };
