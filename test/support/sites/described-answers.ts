import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Express, Response } from 'express';
import type { OpenApiDocument } from '../../../src/http/operations/openapi.js';
import { securityHeaders } from '../../../src/http/response/respond.js';

// Compares responses with the OpenAPI description of a site: every response of a site from `startSite` must be described, with
// status, code, headers and body. Headers of the app need no description.

/** One response of the routes. */
export interface SeenAnswer {
  readonly method: string;
  /** The path below that of the router. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Undefined if it is compressed or a stream. */
  readonly body: string | undefined;
}

interface Described {
  readonly responses: Readonly<Record<string, DescribedResponse>>;
  readonly operationId: string;
}
interface DescribedResponse {
  readonly headers?: Readonly<Record<string, { readonly $ref?: string; readonly required?: boolean; schema?: object }>>;
  readonly content?: Readonly<
    Record<string, { readonly schema: object; readonly 'x-events'?: Record<string, object> }>
  >;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>;

/** Headers that the document leaves out: those of HTTP, and those that are the same on every response. */
const everywhere = new Set(
  [
    ...['connection', 'content-encoding', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'],
    ...['cache-control', 'vary', ...Object.keys(securityHeaders())],
  ].map((name) => name.toLowerCase()),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
const compiled = new Map<string, ValidateFunction>();

/** Compares responses with one document. */
export class Description {
  readonly #document: OpenApiDocument;
  readonly #paths: Paths;

  constructor(document: OpenApiDocument) {
    this.#document = document;
    const responses = document.components.responses as unknown as Readonly<Record<string, DescribedResponse>>;
    const prefix = '#/components/responses/';
    this.#paths = JSON.parse(JSON.stringify(document.paths), (_key, value) =>
      value?.$ref?.startsWith?.(prefix) ? responses[value.$ref.slice(prefix.length)] : value,
    );
  }

  /** All described responses: `createIntent 400 invalid_json`, `getStatus 200`. */
  get all(): string[] {
    return Object.values(this.#paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId, responses }) =>
        Object.entries(responses).flatMap(([status, response]) => {
          const codes = codesOf(response);
          return codes ? codes.map((code) => `${operationId} ${status} ${code}`) : [`${operationId} ${status}`];
        }),
      ),
    );
  }

  /** The name of a response and its faults, or undefined if its path is not of the router. */
  check(answer: SeenAnswer): { readonly name: string; readonly faults: readonly string[] } | undefined {
    const methods = this.#methodsOf(answer.path);
    if (!methods) return undefined;
    const described = methods[answer.method === 'HEAD' ? 'get' : answer.method.toLowerCase()];
    if (!described) return { name: `${answer.method} 405`, faults: this.#faultsOf(answer, this.#methodNotAllowed) };
    const { operationId, responses } = described;
    const key = responses[answer.status] ? String(answer.status) : `${Math.floor(answer.status / 100)}XX`;
    const code = /"code":"(\w+)"/.exec(answer.body ?? '')?.[1];
    const name = `${operationId} ${key}${code && isProblem(answer) ? ` ${code}` : ''}`;
    const response = responses[key];
    return { name, faults: response ? this.#faultsOf(answer, response) : ['it is not described'] };
  }

  /** Validates a value against a schema in this document. */
  faultsIn(value: unknown, schema: object): string[] {
    const key = JSON.stringify([schema, this.#document.components.schemas]);
    const components = { schemas: closed(this.#document.components.schemas) };
    const validate = compiled.get(key) ?? ajv.compile({ ...schema, components });
    compiled.set(key, validate);
    return validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  get #methodNotAllowed(): DescribedResponse {
    return (this.#document.components.responses as unknown as Record<string, DescribedResponse>)
      .MethodNotAllowed as DescribedResponse;
  }

  #methodsOf(path: string): Paths[string] | undefined {
    const template = Object.keys(this.#paths).find((one) => one === path) ?? this.#templateOf(path);
    return template === undefined ? undefined : this.#paths[template];
  }

  #templateOf(path: string): string | undefined {
    return Object.keys(this.#paths).find((template) => {
      const files = template.includes('{file}') ? '[\\w-]+\\.js' : '[^/]+';
      return new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, files)}$`).test(path);
    });
  }

  #faultsOf(answer: SeenAnswer, { headers = {}, content = {} }: DescribedResponse): string[] {
    const found: string[] = [];
    const known = Object.entries(headers).map(([name, header]) => [name.toLowerCase(), this.#resolve(header)] as const);
    for (const [name, { required = false, schema = {} }] of known) {
      const value = answer.headers[name];
      if (value === undefined) {
        if (required) found.push(`the header ${name} is missing`);
        continue;
      }
      const isNumber = (schema as { type?: string }).type === 'integer';
      const read = isNumber ? Number(value) : String(value);
      found.push(...this.faultsIn(read, schema).map((fault) => `the header ${name}: ${fault}`));
    }
    for (const [name, value] of Object.entries(answer.headers)) {
      const isKnown = everywhere.has(name) || isHeaderOfApp(name, value) || known.some(([one]) => one === name);
      if (!isKnown) found.push(`the header ${name} is not described`);
    }
    return [...found, ...this.#faultsOfBody(answer, content)];
  }

  #faultsOfBody(answer: SeenAnswer, content: NonNullable<DescribedResponse['content']>): string[] {
    const [type = ''] = String(answer.headers['content-type'] ?? '').split(';');
    const described = content[type];
    if (!described) return type === '' && Object.keys(content).length === 0 ? [] : [`${type} is not described`];
    if (answer.body === undefined || answer.method === 'HEAD' || !type.includes('json')) return [];
    return this.faultsIn(JSON.parse(answer.body), described.schema);
  }

  #resolve(header: NonNullable<DescribedResponse['headers']>[string]) {
    const name = header.$ref?.split('/').at(-1);
    if (name === undefined) return header;
    return (this.#document.components.headers as unknown as Record<string, typeof header>)[name] ?? header;
  }
}

/** Clients ignore unknown members, but a test must find one that is not described. */
function closed(schemas: unknown): unknown {
  const { Problem, ...others } = schemas as Record<string, unknown>;
  const text = JSON.stringify(others, (_key, value) =>
    value?.type === 'object' && value.properties ? { additionalProperties: false, ...value } : value,
  );
  return { Problem, ...(JSON.parse(text) as object) };
}

/** Whether the app sets this header: CORS, and the cookies of its session. */
function isHeaderOfApp(name: string, value: unknown): boolean {
  if (name !== 'set-cookie') return name.startsWith('access-control-');
  return [value].flat().every((cookie) => !/^(__Host-)?intent(-session)?=/.test(String(cookie)));
}

const isProblem = ({ headers }: SeenAnswer): boolean => headers['content-type'] === 'application/problem+json';

function codesOf({ content = {} }: DescribedResponse): readonly string[] | undefined {
  const { schema } = content['application/problem+json'] ?? {};
  return (schema as { properties?: { code: { enum: string[] } } } | undefined)?.properties?.code.enum;
}

/** Passes each response of our routes to `note`; of each kind only the first, since tests may send thousands. */
export function noteAnswers(app: Express, mountPath: string, note: (answer: SeenAnswer) => void): void {
  const kinds = new Set<string>();
  app.use((req, res, next) => {
    const { method, path } = req;
    const chunks: unknown[] = [];
    const { end, write } = res;
    Object.assign(res, {
      write: (...args: Parameters<typeof write>) => {
        chunks.push(args[0]);
        return write.apply(res, args);
      },
      end: (...args: Parameters<typeof end>) => {
        if (args[0] !== undefined && typeof args[0] !== 'function') chunks.push(args[0]);
        return end.apply(res, args);
      },
    });
    res.once('close', () => {
      if (!isOurs(res) || !path.startsWith(mountPath)) return;
      const isReadable = !res.hasHeader('content-encoding') && res.writableFinished;
      const body = isReadable ? chunks.join('') : undefined;
      const kind = `${method} ${path.replace(/[1-9A-HJ-NP-Za-km-z]{32,}/, '')} ${res.statusCode} ${body?.slice(0, 80)}`;
      if (kinds.has(kind) || kinds.size > 1_000) return;
      kinds.add(kind);
      note({ method, path: path.slice(mountPath.length), status: res.statusCode, headers: res.getHeaders(), body });
    });
    next();
  });
}

/** Whether the router responded, and not middleware before or after it. */
function isOurs(res: Response): boolean {
  return String(res.getHeader('content-security-policy')).startsWith("default-src 'none';frame");
}
