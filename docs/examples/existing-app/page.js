const escaped = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** Only `html` makes one: a JSON body cannot. */
class Html {
  constructor(html) {
    this.html = html;
  }
}
const textOf = (value) =>
  value instanceof Html ? value.html : String(value).replace(/[&<>"]/g, (character) => escaped[character]);

/** Escapes all values, except parts that this function has made. */
export const html = (strings, ...values) =>
  new Html(String.raw({ raw: strings }, ...values.map((value) => [value].flat().map(textOf).join(''))));

export const page = (title, body) =>
  html`<!doctype html>
<html lang="en"><meta name="viewport" content="width=device-width"><title>${title}</title>
<link rel="stylesheet" href="/shop.css"><script type="module" src="/intent/v1/elements.js"></script>
<nav><a href="/">Shop</a> <a href="/basket">Basket</a> <a href="/account">Account</a></nav>
<main><h1>${title}</h1>${body}</main>`.html;

/** A button that sends a form with the CSRF token. */
export const formButton = (req, action, label, fields = {}) => html`<form method="post" action="${action}">
${Object.entries({ _csrf: req.csrf, ...fields }).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button>${label}</button></form>`;
