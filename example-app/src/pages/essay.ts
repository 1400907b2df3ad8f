import { essay, paragraphs } from '../essay.js';
import { html } from '../html.js';
import type { Page } from './layout.js';

export const essayPage = (): Page => ({
  title: essay.name,
  main: html`
      <article class="essay" lang="en">
        <p class="eyebrow">Read while it steeps</p>
        <h1>${essay.name}</h1>
        ${paragraphs.map((paragraph) => html`<p>${paragraph}</p>`)}
        <p><a class="button button--quiet" href="/">Back to the shelf</a></p>
      </article>`,
});
