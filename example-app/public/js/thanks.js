const intervalMs = 1_000;
const watched = () => document.querySelector('[data-watch]');

// Reloads the state from the server until it is final.
async function poll() {
  if (!document.hidden) await update().catch(() => undefined);
  if (watched()) setTimeout(poll, intervalMs);
}

async function update() {
  const shown = watched();
  // A status request makes the ledger recheck the payment immediately.
  await fetch(`/status/${shown.dataset.watch}`);
  const response = await fetch(location.href);
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const latest = page.querySelector('[data-payment]');
  if (latest.dataset.payment === shown.dataset.payment) return;
  document.title = page.title;
  shown.replaceWith(latest);
}

if (watched()) poll();
