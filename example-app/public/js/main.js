import { intentIdOf } from './intent-id.js';
import { Problem, sentenceOf } from './problem.js';
import { completeLogin, createIntent, logOut } from './shop-api.js';
import { openDialog, say, showCode, showState } from './wallet-dialog.js';
import { untilSubmitted } from './watch-status.js';

/** How long "paid" stays on the screen before the page goes on, in milliseconds. */
const lingerMs = 900;

/** What differs between paying and logging in. */
const kinds = {
  payment: {
    texts: ({ price, name }) => ({ title: 'Pay The Patient Kettle', amount: price, what: name }),
    request: ({ article }) => ({ mode: 'payment', order: { article } }),
    scanned: 'Your wallet has the bill. Confirm it there.',
    done: 'Paid. Thank you!',
    finish: async (id) => `/thanks/${id}`,
  },
  login: {
    texts: () => ({ title: 'Log in to The Patient Kettle' }),
    request: () => ({ mode: 'login' }),
    scanned: 'Your wallet has the request. Confirm it there.',
    done: 'Hello again. Come in!',
    finish: async (id, signal) => {
      await completeLogin(id, signal);
      return '/account';
    },
  },
};

const waiting = 'Scan this with your wallet.';

/** Whether anything was paid meanwhile is not known then, so it is not claimed. */
const trouble = 'There is no answer right now. Leave this open: we keep asking.';

/**
 * Runs a payment or a login from the click to the page that follows it.
 * @param {HTMLButtonElement} button
 */
async function run(button) {
  const kind = kinds[button.dataset.intent];
  const signal = openDialog(kind.texts(button.dataset));
  try {
    if (!globalThis.isSecureContext) throw new Problem('insecure_page');
    const clientSecret = await createIntent(kind.request(button.dataset), signal);
    const id = await intentIdOf(clientSecret);
    signal.throwIfAborted();
    showState('waiting', waiting);
    showCode(clientSecret);
    await untilSubmitted(id, {
      signal,
      onStatus: ({ code_scanned: scanned }) =>
        scanned ? showState('scanned', kind.scanned) : showState('waiting', waiting),
      onTrouble: () => say(trouble),
    });
    const next = await kind.finish(id, signal);
    showState('done', kind.done);
    setTimeout(() => location.assign(next), lingerMs);
  } catch (error) {
    if (!signal.aborted) showState('problem', sentenceOf(error));
  }
}

for (const button of document.querySelectorAll('button[data-intent]')) {
  button.addEventListener('click', () => run(button));
}

for (const button of document.querySelectorAll('button[data-action="log-out"]')) {
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      await logOut();
      location.assign('/');
    } catch (error) {
      button.disabled = false;
      button.textContent = `Log out: ${sentenceOf(error)}`;
    }
  });
}
