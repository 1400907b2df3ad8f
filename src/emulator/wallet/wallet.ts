import { hkdfSync, randomBytes } from 'node:crypto';
import { IntentError, SequencerError } from '../../errors.js';
import { unsignedBytes } from '../../intents/signed-intent.js';
import type { StatedLogin } from '../../intents/verify-intent.js';
import { formatBase58, parseIntentId } from '../../keys/base58.js';
import { type KeyPair, keyPairFromSeed } from '../../keys/ed25519.js';
import { parseVerifierDomain } from '../../keys/verifier-domain.js';
import { encode, v1 } from '../../wire/codec.js';
import { emulator, submitPayment } from '../../wire/emulator-codec.js';
import { operations } from '../../wire/envelope.js';
import { callProxy } from '../servers/proxy-call.js';
import { toTimestamp } from '../timestamp.js';
import { fetchRequest, type OpenedCode, openCode, type WalletRequest } from './read-code.js';

/** What a simulated wallet is made of. */
export interface WalletOptions {
  /** base_url of an embedded sequencer, such as `http://127.0.0.1:4747`. */
  readonly url: string;
  /** What people call it. */
  readonly name: string;
  /** 32 bytes that all keys of the wallet come from. Default: from the system's random source. */
  readonly seed?: Uint8Array | undefined;
  /** The time, ms since 1970. */
  readonly now?: (() => number) | undefined;
}

/**
 * A simulated wallet: what a person does with a phone. There is no money in it.
 *
 * A `code` is a client secret, or a link to the wallet with the client secret as its fragment. Every call rejects with an
 * IntentError: `invalid_client_secret` for an unreadable code, `intent_not_found`, `invalid_signature` or
 * `malformed_message` for a request that is not what its code says, `not_supported` for the wrong kind, and
 * `sequencer_...` when the sequencer refuses, such as a payment that somebody else has made.
 */
export interface Wallet {
  /** What people call it. */
  readonly name: string;
  /** The account that it pays from, Base58. */
  readonly account: string;
  /** Fetches the request, verifies it and tells its rendezvous that the code was scanned. */
  scan(code: string): Promise<WalletRequest>;
  /** Pays or logs in; scans before, when that was not done. */
  confirm(code: string): Promise<WalletRequest>;
  /** Tells the rendezvous that the person declined, which changes nothing else. */
  reject(code: string): Promise<WalletRequest>;
  /** As `confirm`, for payments only. */
  pay(code: string): Promise<WalletRequest>;
  /** As `confirm`, for logins only; tells as whom. */
  login(code: string): Promise<WalletLogin>;
  /** Who the wallet is at a domain, Base58: another id at each. @throws {IntentError} `invalid_domain` */
  userId(domain: string): string;
}

/** A login that a wallet has confirmed. */
export interface WalletLogin extends WalletRequest {
  /** Who the wallet is at the site's domain, Base58: what the site gets to know. */
  readonly userId: string;
}

/** Makes a simulated wallet for an embedded sequencer; no other sequencer knows how it pays. */
export function createWallet(options: WalletOptions): Wallet {
  return new SimulatedWallet(options);
}

const maxRemembered = 1_000;
const LoginResult = v1.LoginToThirdPartyAppResponse.Result;
const PaymentResult = emulator.SubmitPaymentResponse.Result;

class SimulatedWallet implements Wallet {
  readonly name: string;
  readonly #url: string;
  readonly #seed: Uint8Array;
  readonly #now: () => number;
  readonly #scanned = new Set<string>();

  constructor({ url, name, seed = randomBytes(32), now = Date.now }: WalletOptions) {
    if (seed.length !== 32) throw new IntentError('invalid_key', 'The seed of a wallet has 32 bytes.');
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
    // A code for a login was verified to be one.
    const { domain } = request.login as StatedLogin;
    return { ...request, userId: this.userId(domain) };
  }

  async reject(code: string): Promise<WalletRequest> {
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

  /** Fetches and verifies every time, so that what is confirmed is what is there now; tells of the scan once. */
  #scanOnce(opened: OpenedCode): Promise<WalletRequest> {
    return this.#scanned.has(opened.id) ? fetchRequest(this.#url, opened) : this.#scan(opened);
  }

  async #send(rendezvous: KeyPair, message: v1.Message.$Properties): Promise<void> {
    await callProxy(
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
    const codec = emulator.SubmitPaymentRequest;
    const { result } = await callProxy(
      this.#url,
      { operation: submitPayment, request: codec, response: emulator.SubmitPaymentResponse },
      { ...unsigned, signature: { value: account.sign(unsignedBytes(codec, unsigned)) } },
    );
    requireOk(id, PaymentResult[result], 'Somebody else has paid this already.');
  }

  async #logIn(id: string, domain: string): Promise<void> {
    const user = this.#userKey(domain);
    const unsigned = { intentId: { value: parseIntentId(id) }, userId: { value: user.publicKey } };
    const codec = v1.LoginToThirdPartyAppRequest;
    const { result } = await callProxy(
      this.#url,
      { operation: operations.loginToThirdPartyApp, request: codec, response: v1.LoginToThirdPartyAppResponse },
      { ...unsigned, signature: { value: user.sign(unsignedBytes(codec, unsigned)) } },
    );
    requireOk(id, LoginResult[result], 'Somebody else has logged in with this already.');
  }

  #userKey(domain: string): KeyPair {
    return this.#key(`user at ${parseVerifierDomain(domain)}`);
  }

  #key(purpose: string): KeyPair {
    return keyPairFromSeed(new Uint8Array(hkdfSync('sha256', this.#seed, '', `simulated wallet: ${purpose}`, 32)));
  }
}

function requireOk(id: string, result: string | undefined, taken: string): void {
  if (result === 'OK') return;
  if (result === 'REQUEST_NOT_FOUND') throw new IntentError('intent_not_found', `There is no intent ${id}.`);
  const isTaken = result === 'ALREADY_PAID' || result === 'DIFFERENT_LOGIN_EXISTS';
  throw new SequencerError('sequencer_error', isTaken ? taken : `The sequencer answered ${result}.`);
}
