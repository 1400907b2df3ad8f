import '/intent/v1/elements.js';

// The button names the article. The server sets the price.
for (const button of document.querySelectorAll('intent-button[data-article]')) {
  button.order = { article: button.dataset.article };
}

for (const button of document.querySelectorAll('button[data-action="log-out"]')) {
  button.addEventListener('click', async () => {
    button.disabled = true;
    const response = await fetch('/session', { method: 'DELETE' }).catch(() => undefined);
    if (response?.ok) return location.assign('/');
    button.disabled = false;
    button.textContent = 'Log out failed. Please try again.';
  });
}
