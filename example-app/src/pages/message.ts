import { html } from '../html.js';
import type { Page } from './layout.js';

/** A page that says one thing, such as that there is none here. */
export const messagePage = (title: string, text: string): Page => ({
  title,
  main: html`
      <section class="narrow">
        <img src="/images/mark.svg" alt="" width="96" height="96">
        <h1>${title}</h1>
        <p class="lead">${text}</p>
        <p><a class="button" href="/">Back to the shelf</a></p>
      </section>`,
});
