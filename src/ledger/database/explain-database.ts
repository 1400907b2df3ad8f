/** What is wrong between a site and its Postgres, in words, and the one thing that mends it. */
export interface DatabaseExplanation {
  /** Undefined where it is the way there, of which the system says it. */
  readonly why?: string;
  readonly mend: string;
}

/** An error as far as it is looked at. */
interface ReadableError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly syscall?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

const startIt =
  'Start the database, correct the host and port in INTENT_DATABASE_URL, or open the firewall for this machine.';

/** What the database itself says, by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const states: readonly (readonly [state: RegExp, mend: string])[] = [
  [
    /^28/,
    'Correct the user and the password in INTENT_DATABASE_URL; what is not a letter or a digit is %-encoded there.',
  ],
  [/^3D000$/, 'Make it with `createdb`, or correct the name at the end of INTENT_DATABASE_URL.'],
  [/^53300$/, 'End what keeps connections open, raise max_connections, or put pgbouncer in between.'],
  [/^53100$/, 'Make room on the disk of the database.'],
  [/^42501$/, 'Let the role of INTENT_DATABASE_URL own the schema express_intents.'],
  [/^57P0/, 'Wait until the server has started; where it does not by itself, start it.'],
  [/^25006$/, 'Let INTENT_DATABASE_URL name the primary, and not a replica that can only be read.'],
];

/** What the way there says, by the code that Node gives it. */
const systemCodes: readonly (readonly [code: RegExp, mend: string])[] = [
  [/^ENOTFOUND$/, 'There is no such host: correct it in INTENT_DATABASE_URL.'],
  [/^EAI_/, 'The DNS does not answer: mend the name service of this machine.'],
  [/^(?:ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/, startIt],
  [/^CERT_HAS_EXPIRED$/, 'Renew the certificate of the database.'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'Name the host in INTENT_DATABASE_URL as the certificate of the database does.'],
  [
    /^(?:UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|CERT_)/,
    'Name the authority that has signed its certificate: sslrootcert=<file> in the query of INTENT_DATABASE_URL.',
  ],
];

/** By what the server or the driver says. They come first: the code of some says less. */
const texts: readonly (readonly [text: RegExp, explanation: DatabaseExplanation])[] = [
  [
    /no pg_hba\.conf entry.*no encryption/,
    { why: 'it wants TLS', mend: 'Add ?sslmode=verify-full to INTENT_DATABASE_URL.' },
  ],
  [
    /no pg_hba\.conf entry/,
    { why: 'it does not take this user from this machine', mend: 'Add a line for it to pg_hba.conf of the database.' },
  ],
  [
    /client password must be a string/,
    {
      why: 'it wants a password, and there is none',
      mend: 'Put it into INTENT_DATABASE_URL: postgres://user:password@host/database',
    },
  ],
  [
    /does not support SSL/,
    { why: 'it speaks no TLS', mend: 'Take sslmode out of INTENT_DATABASE_URL, or give the server a certificate.' },
  ],
  [
    /^timeout exceeded|connection timeout|^timeout expired/,
    { why: 'no connection comes about in time', mend: startIt },
  ],
];

/** Undefined where nothing is known that would mend it. No more is read of an error than its own words. */
export function explainDatabase(error: unknown): DatabaseExplanation | undefined {
  let each = error;
  for (let depth = 0; depth < 6 && typeof each === 'object' && each !== null; depth += 1) {
    const readable = each as ReadableError;
    const explanation = explainOne(readable);
    if (explanation) return explanation;
    each = Array.isArray(readable.errors) ? readable.errors[0] : readable.cause;
  }
  return undefined;
}

function explainOne({ code, message, syscall }: ReadableError): DatabaseExplanation | undefined {
  const [said, codeText] = [String(message), String(code)];
  const text = texts.find(([known]) => known.test(said));
  if (text) return text[1];
  const state = states.find(([known]) => known.test(codeText));
  const why = codeText.startsWith('28') ? `it refuses the user or the password (${said})` : said;
  if (state) return { why, mend: state[1] };
  if (/^(?:ENOENT|EACCES)$/.test(codeText)) return syscall === 'connect' ? { mend: startIt } : unreadable;
  const system = systemCodes.find(([known]) => known.test(codeText));
  return system && { mend: system[1] };
}

const unreadable: DatabaseExplanation = {
  why: 'a certificate that INTENT_DATABASE_URL names cannot be read',
  mend: 'Put the file there, or correct sslrootcert, sslcert and sslkey in INTENT_DATABASE_URL.',
};
