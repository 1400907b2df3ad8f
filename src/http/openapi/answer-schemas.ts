import type * as zod from 'zod';
import { errorCodes, type IntentErrorCode } from '../../errors.js';

/** Base58 of 32 bytes. */
const id32 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
/** Base58 of 20 bytes. */
const id20 = /^[1-9A-HJ-NP-Za-km-z]{20,28}$/;

/**
 * The schema of everything that is answered. Nothing is checked against them while the site runs: they describe it, and in
 * tests they are held against what is answered. zod is handed over, since it is loaded only where it is needed.
 */
export function answerSchemas(z: typeof zod) {
  const user = z.strictObject({
    id: z.string().regex(id32).describe('One Ed25519 public key for each wallet and site.'),
  });
  const status = z.strictObject({
    exists: z.boolean().describe('The intent has been created.'),
    code_scanned: z.boolean().describe('Somebody has scanned the code. For display: anybody who sees it can say so.'),
    intent_submitted: z.boolean().describe("The signed intent was submitted: the payment service's own word."),
  });
  const check = z.strictObject({ status: z.enum(['ok', 'degraded', 'down']), reason: z.string().optional() });
  return {
    CreatedIntent: z.strictObject({
      client_secret: z.string().regex(id20).describe('For this browser alone: whoever has it owns the intent.'),
    }),
    Status: status,
    Session: z.strictObject({ user: user.nullable() }),
    LoggedIn: z.strictObject({ user }),
    ToConfirm: z.strictObject({ confirm: z.strictObject({ user }) }),
    KeyFile: z.strictObject({ public_keys: z.array(z.string().regex(id32)).min(1) }),
    Event: z.strictObject({ id: z.string(), timestamp: z.iso.datetime().optional() }),
    Health: z.strictObject({ status: check.shape.status, checks: z.record(z.string(), check) }),
    Problem: problemSchema(z),
  };
}

function problemSchema(z: typeof zod) {
  const codes = Object.keys(errorCodes) as [IntentErrorCode, ...IntentErrorCode[]];
  return z
    .looseObject({
      type: z.string().regex(/^urn:express-intents:error:[a-z_]+$/),
      title: z.string().describe('The same for every problem of this code.'),
      status: z.int().min(400).max(599),
      code: z.enum(codes).describe('Stable: branch on this.'),
      detail: z.string().optional().describe('Under 500: what to change.'),
      instance: z
        .string()
        .regex(/^urn:express-intents:request:\S+$/)
        .describe('Names the request, as the log does.'),
    })
    .describe('A problem of RFC 9457.');
}

type Schemas = ReturnType<typeof answerSchemas>;
/** The names of the schemas. */
export type AnswerName = keyof Schemas;
/** What is answered, by the name of its schema. */
export type Answer<Name extends AnswerName> = Readonly<zod.infer<Schemas[Name]>>;
