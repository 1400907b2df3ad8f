import type * as zod from 'zod';
import { completionSchema } from '../complete-login.js';
import { intentRequestSchema } from '../intent-request.js';
import { type AnswerName, answerSchemas } from './answer-schemas.js';
import { intentOperations } from './intent-operations.js';
import {
  type DescribedSite,
  describeOperation,
  headerRef,
  type Json,
  type JsonObject,
  type Operation,
  schemaRef,
  sharedHeaders,
} from './operation.js';
import { sessionOperations } from './session-operations.js';
import { siteOperations } from './site-operations.js';

/** A document of OpenAPI 3.1, as JSON. */
export interface OpenApiDocument {
  /** The version of OpenAPI. */
  readonly openapi: '3.1.0';
  /** What is described; the version is that of this package. */
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  /** The root of the site. */
  readonly servers: readonly { readonly url: string }[];
  /** The operations of each path by method. */
  readonly paths: { readonly [path: string]: JsonObject };
  /** Schemas, headers and answers that operations have in common. */
  readonly components: JsonObject;
}

/** Of this description: raised when a site that was described before is described otherwise. */
const version = '1';

/** Describes the routes of a router as this site has them, from the schemas that check its requests. */
export async function openApiDocument(site: DescribedSite): Promise<OpenApiDocument> {
  const z = await import('zod');
  const operations = [
    ...intentOperations(site, requestSchemaOf(z, site)),
    ...sessionOperations(site, jsonSchemaOf(z, completionSchema(z, site.config.login?.confirm === true))),
    ...siteOperations(site),
  ];
  return {
    openapi: '3.1.0',
    info: { title: 'Wallet payments and wallet logins', version, description },
    servers: [{ url: '/' }],
    paths: pathsOf(operations),
    components: {
      schemas: schemasOf(z),
      headers: sharedHeaders,
      securitySchemes: cookiesOf(site),
      responses: { MethodNotAllowed: methodNotAllowed },
    },
  };
}

const description =
  'The routes of express-intents on this site. What goes wrong is a problem (RFC 9457) with a stable `code`. Any other method ' +
  'on one of these paths is answered as `#/components/responses/MethodNotAllowed`; HEAD is answered as GET, without the body.';

/** The browser chooses no amount unless the site lets it. */
function requestSchemaOf(z: typeof zod, { hooks }: DescribedSite): JsonObject {
  const schema = intentRequestSchema(z);
  return jsonSchemaOf(z, hooks.clientAmount ? schema : schema.omit({ amount: true }));
}

/** Without the name of its dialect, which is that of the whole document. */
function jsonSchemaOf(z: typeof zod, schema: zod.ZodType): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema);
  return rest as JsonObject;
}

function schemasOf(z: typeof zod): JsonObject {
  const schemas = Object.entries(answerSchemas(z)) as [AnswerName, zod.ZodType][];
  return Object.fromEntries(schemas.map(([name, schema]) => [name, opened(jsonSchemaOf(z, schema), name)]));
}

/** A later version may add members to an answer, so whoever reads one must bear them; but with a secret comes nothing else. */
function opened(schema: JsonObject, name: AnswerName): JsonObject {
  if (name === 'CreatedIntent') return schema;
  const text = JSON.stringify(schema, (key, value) =>
    key === 'additionalProperties' && value === false ? undefined : value,
  );
  return JSON.parse(text) as JsonObject;
}

function pathsOf(operations: readonly Operation[]): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describeOperation(operation) };
  }
  return paths;
}

function cookiesOf({ config: { isHttps, login } }: DescribedSite): JsonObject {
  const cookie = (name: string, description: string): JsonObject => {
    return { type: 'apiKey', in: 'cookie', name: isHttps ? `__Host-${name}` : name, description };
  };
  return {
    browser: cookie('intent', 'Knows the browser again that has created an intent; set with it.'),
    ...(login && {
      session: cookie('intent-session', 'A login, where the app has no session of its own to keep it in.'),
    }),
  };
}

const methodNotAllowed: JsonObject = {
  description: '405, `method_not_allowed`',
  headers: {
    Allow: { required: true, description: 'The methods that there are.', schema: { type: 'string' } },
    'X-Request-Id': headerRef('X-Request-Id'),
  },
  content: {
    'application/problem+json': {
      schema: {
        ...schemaRef('Problem'),
        properties: { status: { const: 405 }, code: { const: 'method_not_allowed' } },
      },
    },
  },
};
