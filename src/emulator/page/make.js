/** An element with what is in it: elements, and texts that stay texts. */
export function make(name, properties = {}, ...children) {
  const { aria = {}, ...rest } = properties;
  const made = Object.assign(document.createElement(name), rest);
  for (const [attribute, value] of Object.entries(aria)) made.setAttribute(`aria-${attribute}`, value);
  made.append(...children.filter((child) => child !== undefined && child !== ''));
  return made;
}

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** A text that says the same again is not touched, so that it is not read out again. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
