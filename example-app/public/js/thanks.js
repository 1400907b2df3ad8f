const id = document.querySelector('[data-watch]')?.dataset.watch;
const intervalMs = 2_000;

// The page itself asks the payment service on the server, so it is loaded again rather than told that all is well.
async function look() {
  const response = document.hidden ? undefined : await fetch(`/status/${id}`).catch(() => undefined);
  const status = response?.ok ? await response.json() : {};
  if (status.intent_submitted) location.reload();
  else setTimeout(look, intervalMs);
}

if (id) look();
