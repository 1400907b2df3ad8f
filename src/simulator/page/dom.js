// Builds and updates elements. All text is set as text, never as HTML.

/** An element with properties, `aria` attributes, and children: elements or strings. */
export function createElement(name, properties = {}, ...children) {
  const { aria = {}, ...rest } = properties;
  const element = Object.assign(document.createElement(name), rest);
  for (const [attribute, value] of Object.entries(aria)) element.setAttribute(`aria-${attribute}`, value);
  element.append(...children.filter((child) => child !== undefined && child !== ''));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Sets a text if it differs. Screen readers repeat a text that is set again. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function showNote(id, text) {
  setText(byId(id), text);
  byId(id).hidden = text === '';
}

/** The data that an element shows, as JSON. The element is replaced only when its data changes. */
const dataOf = new WeakMap();

/** Replaces the children of an element if the data they show has changed. */
export function update(element, data, render) {
  const text = JSON.stringify(data);
  if (dataOf.get(element) === text) return;
  dataOf.set(element, text);
  element.replaceChildren(...[render(data)].flat());
}

/** Updates the children of a list: one for each item. Unchanged children stay; changed ones keep their focus and open details. */
export function updateList(list, items, keyOf, render) {
  const existing = new Map([...list.children].map((child) => [child.dataset.key, child]));
  let next = list.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    const old = existing.get(key);
    existing.delete(key);
    const text = JSON.stringify(item);
    if (old && old === next) next = next.nextElementSibling;
    if (old && dataOf.get(old) === text) {
      if (old.nextElementSibling !== next) list.insertBefore(old, next);
      continue;
    }
    const element = render(item);
    element.dataset.key = key;
    dataOf.set(element, text);
    const restoreFocus = old && carryOver(old, element);
    old?.remove();
    list.insertBefore(element, next);
    restoreFocus?.();
  }
  for (const child of existing.values()) child.remove();
}

/** Restores which details are open. Returns a function that restores the focus, to be called after insertion. */
function carryOver(old, element) {
  const oldDetails = old.querySelectorAll('details');
  for (const [index, details] of element.querySelectorAll('details').entries()) {
    details.open = oldDetails[index]?.open ?? details.open;
  }
  const controls = 'a, summary';
  const focused = [...old.querySelectorAll(controls)].indexOf(document.activeElement);
  const successor = focused < 0 ? undefined : element.querySelectorAll(controls)[focused];
  return () => successor?.focus({ preventScroll: true });
}
