// Compiled by types.full.test.ts against the package. Each line proves a type; nothing here runs.
import type express from 'express';
import { type IntentRouter, intentRouter, type Payment, requirePayment } from 'express-intents';

// The metadata that the hook `payment` returns is what the other hooks and the router return.
const router = intentRouter({
  payment: async (req) => {
    // @ts-expect-error The body comes from the browser.
    req.body.order;
    const { order } = req.body as { order?: unknown };
    return {
      amount: '4.50',
      currency: 'usd',
      metadata: { order: String(order), gift: order === 'tea', at: new Date(0) },
    };
  },
  onCreated: (intent) => {
    if (intent.kind === 'payment') intent.metadata.order satisfies string;
  },
  onPaid: ({ metadata }, { tx }) => {
    metadata.order satisfies string;
    metadata.gift satisfies boolean;
    metadata.at satisfies string;
    // @ts-expect-error No such member.
    metadata.oder;
    return void tx;
  },
  onReversed: ({ metadata }) => void (metadata.order satisfies string),
  verifyPayment: ({ metadata }) => metadata.order === 'tea',
  onDeadLetter: ({ metadata }) => void (metadata.order satisfies string),
  onLogin: (_user, req) => {
    // @ts-expect-error The body comes from the browser.
    req.body.id;
  },
});

export async function read(id: string): Promise<void> {
  const intent = await router.intents.find(id);
  // @ts-expect-error A login has no amount.
  intent?.amount;
  if (intent?.kind === 'payment') {
    intent.amount satisfies string;
    intent.metadata.order satisfies string;
  } else if (intent) {
    intent.kind satisfies 'login';
  }
  const { intents } = await router.intents.list({ kind: 'payment' });
  for (const one of intents) if (one.kind === 'payment') one.currency satisfies string;
  await router.intents.prune({
    olderThan: new Date(),
    archive: (old) => {
      for (const one of old) {
        one.history.length satisfies number;
        if (one.kind === 'payment') one.metadata.order satisfies string;
      }
    },
  });
  // @ts-expect-error The order is a string.
  await router.createPayment({ amount: 1, currency: 'usd', metadata: { order: 1, gift: false, at: new Date(0) } });
}

/** An interface, and a site that creates its payments itself. */
interface Invoice {
  readonly invoice: number;
}
const billing: IntentRouter<Invoice> = intentRouter<Invoice>({
  onPaid: ({ metadata }) => void (metadata.invoice satisfies number),
});
export const bill = () => billing.createPayment({ amount: 1, currency: 'usd', metadata: { invoice: 7 } });

// Without a type and without a hook, the members are unknown.
export const untyped = intentRouter({
  onPaid: ({ metadata: { order } }) => {
    order satisfies unknown;
    // @ts-expect-error Not a string.
    order satisfies string;
  },
});

export function pages(app: ReturnType<typeof express>): void {
  app.use(router);
  app.get('/report', requirePayment({ resource: 'report', amount: '0.50', currency: 'usd' }), (req, res) => {
    res.send((req.intent.payment satisfies Payment).amount satisfies string);
  });
  app.get(
    '/article',
    requirePayment(async (req) => ({ resource: req.path })),
    (_req, res) => void res.send(),
  );
  // @ts-expect-error A resource is required.
  requirePayment({ amount: 1 });
}
