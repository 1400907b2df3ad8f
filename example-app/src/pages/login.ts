import { html } from '../html.js';
import type { Page } from './layout.js';

export const loginPage = (): Page => ({
  title: 'Log in',
  main: html`
      <section class="narrow">
        <img src="/images/key.svg" alt="" width="120" height="120">
        <h1>Log in</h1>
        <p class="lead">There is no password. Your wallet identifies you, to this shop only.</p>
        <intent-button class="pay" mode="login" success-url="/account">Log in with your wallet</intent-button>
        <p class="soft">“My account” lists what you buy while you are logged in.</p>
      </section>`,
});
