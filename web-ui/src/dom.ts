// Creates elements from text only. Names and findings come from users and servers, so nothing is parsed as HTML.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;

/** Creates an element. Keys that begin with `on` are listeners; true is an attribute without a value, false and undefined are omitted. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== undefined) element.setAttribute(key, String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** A section of the page with its heading; null without content. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement | null {
  if (!children.some(Boolean)) return null;
  return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), ...children);
}

/** Whether the page shows a single run: its overview, verdict and tables are made by Rust. */
export const isRunPage = (): boolean => document.getElementById('overview') !== null;

/** A section that only its heading shows until it is opened; null without content. */
export function folded(id: string, title: string, ...children: Child[]): HTMLElement | null {
  if (!children.some(Boolean)) return null;
  const heading = h('summary', {}, h('h2', { id: `${id}-title` }, title));
  return h('section', { id, class: 'folded', 'aria-labelledby': `${id}-title` }, h('details', { class: 'print-open' }, heading, ...children));
}

/** A color of the style sheet as `#rrggbb`, because the canvas does not support `light-dark()`. */
export function themed(name: string): string {
  const probe = h('i', { hidden: true });
  document.body.append(probe);
  probe.style.color = `var(${name})`;
  const parts = getComputedStyle(probe).color.match(/\d+/g) ?? [];
  probe.remove();
  const hex = (part: string): string => Number(part).toString(16).padStart(2, '0');
  return `#${parts.slice(0, 3).map(hex).join('')}`;
}

/** A font of the style sheet. */
export function styled(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Gives a node the content of a later one. Parts that are the same stay, with focus, selection and position, and opened details stay open. */
export function renew(node: Node, later: Node): void {
  if (node instanceof Element && later instanceof Element && node.tagName === later.tagName) {
    for (const name of node.getAttributeNames()) if (name !== 'open' && !later.hasAttribute(name)) node.removeAttribute(name);
    for (const { name, value } of later.attributes) if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    const [children, laterChildren] = [[...node.childNodes], [...later.childNodes]];
    children.slice(laterChildren.length).forEach((child) => child.remove());
    node.append(...laterChildren.slice(children.length));
    children.slice(0, laterChildren.length).forEach((child, i) => renew(child, laterChildren[i] as Node));
  } else if (node instanceof Text && later instanceof Text) {
    if (node.data !== later.data) node.data = later.data;
  } else {
    node.parentNode?.replaceChild(later, node);
  }
}
