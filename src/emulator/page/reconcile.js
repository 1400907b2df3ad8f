/** What an element was made of, so that it is left alone as long as that is the same. */
const madeOf = new WeakMap();

/** Makes the children of a list those of its items: what has not changed stays, with its focus and what is folded out. */
export function reconcile(list, items, keyOf, render) {
  const known = new Map([...list.children].map((child) => [child.dataset.key, child]));
  let place = list.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    const old = known.get(key);
    known.delete(key);
    const text = JSON.stringify(item);
    if (old && madeOf.get(old) === text) {
      if (old === place) place = place.nextElementSibling;
      else list.insertBefore(old, place);
      continue;
    }
    const made = render(item);
    made.dataset.key = key;
    madeOf.set(made, text);
    if (old) {
      if (old === place) place = place.nextElementSibling;
      takeOver(old, made, () => old.remove());
    }
    list.insertBefore(made, place);
    made.afterwards?.();
  }
  for (const child of known.values()) child.remove();
}

/** Fills an element anew where what it shows has changed. */
export function refill(element, shown, render) {
  const text = JSON.stringify(shown);
  if (madeOf.get(element) === text) return;
  madeOf.set(element, text);
  const fresh = document.createElement(element.localName);
  fresh.append(...[render(shown)].flat());
  takeOver(element, fresh, () => undefined);
  element.replaceChildren(...fresh.childNodes);
  fresh.afterwards?.();
}

/** What was folded out stays so, and who was at a control is at its successor. */
function takeOver(old, made, leave) {
  const folds = old.querySelectorAll('details');
  for (const [index, fold] of made.querySelectorAll('details').entries()) {
    if (folds[index]) fold.open = folds[index].open;
  }
  const controls = 'a, button, summary';
  const focused = [...old.querySelectorAll(controls)].indexOf(document.activeElement);
  const successor = focused < 0 ? undefined : made.querySelectorAll(controls)[focused];
  made.afterwards = () => successor?.focus({ preventScroll: true });
  leave();
}
