// Builds and updates elements. All text is set as text, never as HTML.

/** An element with properties, `aria` attributes, and children: elements or strings. */
export function make(name, properties = {}, ...children) {
  const { aria = {}, ...rest } = properties;
  const made = Object.assign(document.createElement(name), rest);
  for (const [attribute, value] of Object.entries(aria)) made.setAttribute(`aria-${attribute}`, value);
  made.append(...children.filter((child) => child !== undefined && child !== ''));
  return made;
}

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** Sets a text. An unchanged text is not set again, so that a screen reader does not repeat it. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The data that an element shows, as JSON. The element is replaced only when its data changes. */
const shownBy = new WeakMap();

/** Updates the children of a list to those of the items. Unchanged children keep their focus and their open details. */
export function reconcile(list, items, keyOf, render) {
  const existing = new Map([...list.children].map((child) => [child.dataset.key, child]));
  let place = list.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    const old = existing.get(key);
    existing.delete(key);
    const text = JSON.stringify(item);
    if (old && shownBy.get(old) === text) {
      if (old === place) place = place.nextElementSibling;
      else list.insertBefore(old, place);
      continue;
    }
    const made = render(item);
    made.dataset.key = key;
    shownBy.set(made, text);
    let restoreFocus;
    if (old) {
      if (old === place) place = place.nextElementSibling;
      restoreFocus = carryOver(old, made);
      old.remove();
    }
    list.insertBefore(made, place);
    restoreFocus?.();
  }
  for (const child of existing.values()) child.remove();
}

/** Replaces the content of an element when the data it shows has changed. */
export function refill(element, shown, render) {
  const text = JSON.stringify(shown);
  if (shownBy.get(element) === text) return;
  shownBy.set(element, text);
  const fresh = document.createElement(element.localName);
  fresh.append(...[render(shown)].flat());
  const restoreFocus = carryOver(element, fresh);
  element.replaceChildren(...fresh.childNodes);
  restoreFocus();
}

/** Opens the details that were open. Returns a function that focuses the successor of the focused control, once it is inserted. */
function carryOver(old, made) {
  const folds = old.querySelectorAll('details');
  for (const [index, fold] of made.querySelectorAll('details').entries()) {
    if (folds[index]) fold.open = folds[index].open;
  }
  const controls = 'a, button, summary';
  const focused = [...old.querySelectorAll(controls)].indexOf(document.activeElement);
  const successor = focused < 0 ? undefined : made.querySelectorAll(controls)[focused];
  return () => successor?.focus({ preventScroll: true });
}
