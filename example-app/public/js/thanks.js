import { untilSubmitted } from './watch-status.js';

const id = document.querySelector('[data-watch]')?.dataset.watch;

// The page itself asks the payment service on the server, so it is loaded again rather than told that all is well.
if (id) {
  const left = new AbortController();
  addEventListener('pagehide', () => left.abort());
  untilSubmitted(id, { signal: left.signal }).then(
    () => location.reload(),
    () => undefined,
  );
}
