import { html } from '../html.js';
import type { Page } from './layout.js';

/** A page with one message. */
const messagePage = (title: string, text: string): Page => ({
  title,
  main: html`
      <section class="narrow">
        <img src="/images/mark.svg" alt="" width="96" height="96">
        <h1>${title}</h1>
        <p class="lead">${text}</p>
        <p><a class="button" href="/">Back to the shop</a></p>
      </section>`,
});

export const notFoundPage = messagePage(
  'Page not found.',
  'The address is wrong, or the page was removed. There is tea elsewhere.',
);

export const brokenPage = messagePage('Something went wrong.', 'We spilled something. Please try again.');
