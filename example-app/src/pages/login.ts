import { html } from '../html.js';
import { type Page, shopName } from './layout.js';

export const loginPage = (): Page => ({
  title: 'Log in',
  main: html`
      <section class="narrow">
        <img src="/images/key.svg" alt="" width="120" height="120">
        <h1>Come in, sit down.</h1>
        <p class="lead">There is no password to think of. Your wallet says who you are, to this shop alone.</p>
        <intent-button class="pay" mode="login" payee="${shopName}" success-url="/account">Log in with your wallet</intent-button>
        <p class="soft">What you buy while logged in, you find again under “My account”.</p>
      </section>`,
});
