import { elements } from '/intent/v1/elements.js';

const post = async (path, body) => {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} returned ${response.status}.`);
  return response.json();
};
const { button } = elements.create('button', { mode: 'login' });
button.on('invoke', async () => {
  const { client_secret: clientSecret } = await post('/wallet-login');
  button.update({ clientSecret });
});
button.on('success', async ({ intent }) => {
  const complete = () => post('/wallet-login/complete', { intent });
  try {
    await complete().catch(complete);
    location.assign('/account');
  } catch {
    document.querySelector('#login').append(' The login could not be completed. Please try again.');
  }
});
button.mount('#login');
