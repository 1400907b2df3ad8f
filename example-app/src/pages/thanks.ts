import type { IntentState, LedgerIntent } from 'express-intents';
import { type Article, priceOf } from '../articles.js';
import { type Html, html } from '../html.js';
import type { Order } from '../orders.js';
import type { Page } from './layout.js';

/** What somebody set out to buy, and what the ledger says of it. */
export interface Purchase {
  readonly intent: Pick<LedgerIntent, 'id' | 'state' | 'createdAt'>;
  readonly article: Article;
  /** Undefined as long as it is not paid. */
  readonly order: Order | undefined;
}

export function thanksPage({ intent, article, order }: Purchase): Page {
  const { title, text, badge, isFinal } = words[intent.state];
  return {
    title,
    main: html`
      <section class="narrow" data-payment="${intent.state}"${!isFinal && html` data-watch="${intent.id}"`}>
        <img src="/images/${intent.state === 'settled' ? 'tick' : 'mark'}.svg" alt="" width="96" height="96">
        <h1>${title}</h1>
        <p class="lead">${text}</p>
        <dl class="receipt">
          <div><dt>${article.name}</dt><dd>${priceOf(article)}</dd></div>
          ${order && html`<div><dt>Your number at the counter</dt><dd>${order.number}</dd></div>`}
          <div><dt>Ordered</dt><dd>${moment(intent.createdAt)}</dd></div>
          <div><dt>State</dt><dd><span class="badge badge--${intent.state}">${badge}</span></dd></div>
          <div><dt>Intent</dt><dd><code>${intent.id}</code></dd></div>
        </dl>
        <p><a class="button button--quiet" href="/">Back to the shelf</a></p>
      </section>`,
    scripts: isFinal ? [] : ['thanks.js'],
  };
}

interface Words {
  readonly title: string;
  readonly text: string;
  readonly badge: string;
  /** Whether the page need not look again. */
  readonly isFinal: boolean;
}

const unpaid: Words = {
  title: 'Not paid yet.',
  text: 'We have not heard of your payment. If you have just confirmed it, this page will know in a moment.',
  badge: 'Waiting',
  isFinal: false,
};

/** In the states of the ledger. */
const words: Readonly<Record<IntentState, Words>> = {
  creating: unpaid,
  open: unpaid,
  submitted: {
    title: 'Your payment is here.',
    text: 'We are wrapping it up. This page will tell you your number at the counter.',
    badge: 'Being wrapped',
    isFinal: false,
  },
  settled: {
    title: 'Thank you. It is paid.',
    text: 'The kettle is on. Sit wherever the cat is not.',
    badge: 'Paid',
    isFinal: true,
  },
  reversed: {
    title: 'Your payment was taken back.',
    text: 'The payment service has told us so. If that surprises you as well, please ask at the counter.',
    badge: 'Taken back',
    isFinal: true,
  },
  expired: {
    title: 'This was never paid.',
    text: 'It is too long ago to pay for it now. The kettle is still warm.',
    badge: 'Not paid',
    isFinal: true,
  },
  dead: {
    title: 'Your payment is here, and we are stuck.',
    text: 'It is not lost: somebody is looking at it, with a cup in the other hand.',
    badge: 'Being looked at',
    isFinal: false,
  },
};

const moment = (date: Date): Html => {
  const text = date.toLocaleString('en-GB', { day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' });
  return html`<time datetime="${date.toISOString()}">${text}</time>`;
};
