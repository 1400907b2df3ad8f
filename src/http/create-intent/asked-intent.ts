import type { Request, Response } from 'express';
import type { RecordedTerms } from '../../ledger/ledger.js';
import type { KnownBrowser } from '../request/browser-cookie.js';
import type { IntentRequestBody } from './intent-request.js';

/** An intent that a browser asks for. */
export interface AskedIntent {
  readonly mode: 'payment' | 'login';
  readonly body: IntentRequestBody;
  readonly browser: KnownBrowser;
  readonly req: Request;
  readonly res: Response;
}

/** What it was given. */
export interface GivenIntent {
  readonly id: string;
  readonly clientSecret: string;
  /** Undefined for a login. */
  readonly terms: RecordedTerms | undefined;
  /** Whether an earlier request of the same key was given it. */
  readonly isRepeated?: boolean;
}
