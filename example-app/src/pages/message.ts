import { html } from '../html.js';
import type { Page } from './layout.js';

/** A page that says one thing, such as that there is none here. */
const messagePage = (title: string, text: string): Page => ({
  title,
  main: html`
      <section class="narrow">
        <img src="/images/mark.svg" alt="" width="96" height="96">
        <h1>${title}</h1>
        <p class="lead">${text}</p>
        <p><a class="button" href="/">Back to the shelf</a></p>
      </section>`,
});

export const notFoundPage = messagePage(
  'Nothing on this shelf.',
  'There may have been something here once. There is tea elsewhere.',
);

export const brokenPage = messagePage(
  'We spilled something.',
  'It is our fault, and it is being wiped up. Please try again.',
);
