import { createHash } from 'node:crypto';
import { IntentError, SequencerError } from '../../errors.js';
import { bytesToSign } from '../../intents/signed-intent.js';
import type { RequestedLogin } from '../../intents/verify-intent.js';
import { formatBase58, parseIntentId } from '../../keys/base58.js';
import { type KeyPair, keyPairFromSeed } from '../../keys/ed25519.js';
import { deriveKey } from '../../keys/key-ring.js';
import { parseVerifierDomain } from '../../keys/verifier-domain.js';
import { requireKnown } from '../../reject-unknown.js';
import { encode, v1 } from '../../wire/codec.js';
import { operations } from '../../wire/envelope.js';
import { simulator, submitPayment } from '../../wire/simulator-codec.js';
import { toTimestamp } from '../state/clock.js';
import { intentNotFound } from '../state/intent-store.js';
import { callSequencer } from './call-sequencer.js';
import { fetchRequest, type OpenedCode, openCode, type WalletRequest } from './wallet-request.js';

/** Options of `createWallet`. */
export interface WalletOptions {
  /** The base URL of a simulator, such as `http://127.0.0.1:4747`. */
  readonly url: string;
  /** Display name. */
  readonly name: string;
  /** 32 bytes from which its keys are derived. Default: derived from the name, so `Ada` is the same wallet everywhere. */
  readonly seed?: Uint8Array | undefined;
  /** The time, ms since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * A simulated wallet, without money.
 *
 * A `code` is a client secret, or a link to the wallet with the client secret as its fragment. Calls reject with an IntentError:
 * `invalid_client_secret` or `unknown_currency` for an invalid code, `intent_not_found` for an unknown intent,
 * `invalid_signature` or `malformed_message` for a request that does not match its code, `not_supported` for the wrong kind, and
 * `sequencer_...` if the call fails or is refused, such as for a payment that another wallet has paid.
 */
export interface Wallet {
  /** Display name. */
  readonly name: string;
  /** The account it pays from, Base58. */
  readonly account: string;
  /** Fetches the request, verifies it, and sends `code_scanned` to its message stream. */
  scan(code: string): Promise<WalletRequest>;
  /** Pays or logs in; scans first if needed. */
  confirm(code: string): Promise<WalletRequest>;
  /** Declines: sends `client_rejected_...` to the message stream. The request can still be confirmed. */
  decline(code: string): Promise<WalletRequest>;
  /** Like `confirm`, but only for payments. */
  pay(code: string): Promise<WalletRequest>;
  /** Like `confirm`, but only for logins. Also returns the user id. */
  login(code: string): Promise<WalletLogin>;
  /** The wallet's user id at a domain, Base58: different at each domain. @throws {IntentError} `invalid_domain` */
  userId(domain: string): string;
}

/** A login that a wallet has confirmed. */
export interface WalletLogin extends WalletRequest {
  /** The wallet's user id at the site's domain, Base58. */
  readonly userId: string;
}

/** Creates a simulated wallet. It can pay at a simulator only. @throws {IntentError} `invalid_request`, `invalid_key` */
export function createWallet(options: WalletOptions): Wallet {
  requireKnown('createWallet', options ?? null, ['url', 'name', 'seed', 'now']);
  if (typeof options.url !== 'string' || typeof options.name !== 'string') {
    throw new IntentError('invalid_request', 'createWallet: set `url` and `name` to strings.');
  }
  return new SimulatedWallet(options);
}

/** The seed of a name. It is public and the same at every start, so users keep their ids. */
function walletSeed(name: string): Uint8Array {
  return createHash('sha256').update(`express-intents simulated wallet ${name}`).digest();
}

const maxRemembered = 1_000;
const LoginResult = v1.LoginToThirdPartyAppResponse.Result;
const PaymentResult = simulator.SubmitPaymentResponse.Result;

class SimulatedWallet implements Wallet {
  readonly name: string;
  readonly #url: string;
  readonly #seed: Uint8Array;
  readonly #now: () => number;
  readonly #scanned = new Set<string>();

  constructor({ url, name, seed = walletSeed(name), now = Date.now }: WalletOptions) {
    if (seed.length !== 32) throw new IntentError('invalid_key', 'The seed of a wallet must have 32 bytes.');
    this.name = name;
    this.#url = url.replace(/\/+$/, '');
    this.#seed = seed.slice();
    this.#now = now;
  }

  get account(): string {
    return formatBase58(this.#key('account').publicKey);
  }

  userId(domain: string): string {
    return formatBase58(this.#userKey(domain).publicKey);
  }

  async scan(code: string): Promise<WalletRequest> {
    return this.#scan(openCode(code));
  }

  async confirm(code: string): Promise<WalletRequest> {
    return this.#confirm(code);
  }

  async pay(code: string): Promise<WalletRequest> {
    return this.#confirm(code, 'payment');
  }

  async login(code: string): Promise<WalletLogin> {
    const request = await this.#confirm(code, 'login');
    // `#confirm` verified that the request is a login.
    const { domain } = request.login as RequestedLogin;
    return { ...request, userId: this.userId(domain) };
  }

  async decline(code: string): Promise<WalletRequest> {
    const opened = openCode(code);
    const request = await this.#scanOnce(opened);
    const intentId = { value: opened.rendezvous.publicKey };
    await this.#send(
      opened.rendezvous,
      request.kind === 'payment'
        ? { clientRejectedPayment: { intentId } }
        : { clientRejectedLogin: { timestamp: toTimestamp(this.#now()) } },
    );
    return request;
  }

  async #confirm(code: string, kind?: WalletRequest['kind']): Promise<WalletRequest> {
    const opened = openCode(code);
    if (kind && opened.payload.kind !== kind) {
      throw new IntentError('not_supported', `This code is for a ${opened.payload.kind}, not for a ${kind}.`);
    }
    const request = await this.#scanOnce(opened);
    if (request.kind === 'payment') await this.#submitPayment(request.id);
    if (request.login) await this.#logIn(request.id, request.login.domain);
    return request;
  }

  async #scan(opened: OpenedCode): Promise<WalletRequest> {
    const request = await fetchRequest(this.#url, opened);
    await this.#send(opened.rendezvous, { codeScanned: { timestamp: toTimestamp(this.#now()) } });
    this.#scanned.add(request.id);
    const [oldest] = this.#scanned;
    if (oldest !== undefined && this.#scanned.size > maxRemembered) this.#scanned.delete(oldest);
    return request;
  }

  /** Sends the scan once. Fetches and verifies the request every time. */
  #scanOnce(opened: OpenedCode): Promise<WalletRequest> {
    return this.#scanned.has(opened.id) ? fetchRequest(this.#url, opened) : this.#scan(opened);
  }

  async #send(rendezvous: KeyPair, message: v1.Message.$Properties): Promise<void> {
    await callSequencer(
      this.#url,
      { operation: operations.sendMessage, request: v1.SendMessageRequest, response: v1.SendMessageResponse },
      {
        message,
        rendezvousKey: { value: rendezvous.publicKey },
        signature: { value: rendezvous.sign(encode(v1.Message, message)) },
      },
    );
  }

  async #submitPayment(id: string): Promise<void> {
    const account = this.#key('account');
    const unsigned = { intentId: { value: parseIntentId(id) }, payer: { value: account.publicKey } };
    const codec = simulator.SubmitPaymentRequest;
    const { result } = await callSequencer(
      this.#url,
      { operation: submitPayment, request: codec, response: simulator.SubmitPaymentResponse },
      { ...unsigned, signature: { value: account.sign(bytesToSign(codec, unsigned)) } },
    );
    requireOk(id, PaymentResult[result], 'Another wallet has already paid.');
  }

  async #logIn(id: string, domain: string): Promise<void> {
    const user = this.#userKey(domain);
    const unsigned = { intentId: { value: parseIntentId(id) }, userId: { value: user.publicKey } };
    const codec = v1.LoginToThirdPartyAppRequest;
    const { result } = await callSequencer(
      this.#url,
      { operation: operations.loginToThirdPartyApp, request: codec, response: v1.LoginToThirdPartyAppResponse },
      { ...unsigned, signature: { value: user.sign(bytesToSign(codec, unsigned)) } },
    );
    requireOk(id, LoginResult[result], 'Another wallet has already logged in.');
  }

  #userKey(domain: string): KeyPair {
    return this.#key(`user at ${parseVerifierDomain(domain)}`);
  }

  #key(purpose: string): KeyPair {
    return keyPairFromSeed(deriveKey(this.#seed, `simulated wallet: ${purpose}`));
  }
}

function requireOk(id: string, result: string | undefined, taken: string): void {
  if (result === 'OK') return;
  if (result === 'REQUEST_NOT_FOUND') throw intentNotFound(id);
  const isTaken = result === 'ALREADY_PAID' || result === 'DIFFERENT_LOGIN_EXISTS';
  throw new SequencerError('sequencer_error', isTaken ? taken : `The simulator answered ${result}.`);
}
