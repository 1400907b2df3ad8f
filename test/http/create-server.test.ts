import * as http from 'node:http';
import * as https from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import compression from 'compression';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import session from 'express-session';
import helmet from 'helmet';
import morgan from 'morgan';
import multer from 'multer';
import { createServer, generateKeyPair, intentRouter, requireLogin } from '../../src/index.js';
import { localhostCertificate } from '../support/sites/localhost-certificate.js';
import { expressVersions, LogRecorder } from '../support/sites/site.js';

const verifierSecret = generateKeyPair().secret;
const servers: http.Server[] = [];

async function listen<Server extends http.Server>(server: Server): Promise<Server> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

afterAll(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** All that a handler can observe of a request and its response. */
function seenOf(req: Request, res: Response, app: Express): unknown {
  const chainOf = (object: object): string[] => {
    const prototype: object | null = Object.getPrototypeOf(object);
    return prototype ? [Reflect.ownKeys(prototype).map(String).join(), ...chainOf(prototype)] : [];
  };
  const names: string[] = [];
  for (const name in req) names.push(name);
  return {
    prototypes: [chainOf(req), chainOf(res)],
    isOfApp: [Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response],
    own: [Reflect.ownKeys(req).map(String), Reflect.ownKeys(res).map(String)],
    names,
    constructors: [req.constructor.name, res.constructor.name],
    isInstance: [req instanceof http.IncomingMessage, res instanceof http.ServerResponse],
    isBound: [req.app === app, res.app === app, req.res === res, res.req === req],
    addresses: [req.ip, req.protocol, req.secure, req.hostname, req.path, req.baseUrl, req.originalUrl],
    asked: [req.method, req.query, req.headers, req.rawHeaders.join(), req.httpVersion, req.complete, req.fresh],
    answer: [res.statusCode, res.headersSent, res.getHeaders(), res.locals, res.writableEnded],
    accepts: [req.accepts('html', 'json'), req.is('json'), req.xhr, req.get('host')],
  };
}

/** An app with common middleware. Random values and times are fixed. */
function buildApp(make: typeof express, log: string[]): Express {
  const app = make();
  let sessions = 0;
  app.use((req, _res, next) => next(void Object.assign(req, { id: 'always-the-same' })));
  app.use(morgan(':method :url :status :res[content-length]', { stream: { write: (line) => void log.push(line) } }));
  app.use(helmet(), compression({ threshold: 500 }));
  app.use(session({ secret: 's', resave: false, saveUninitialized: false, genid: () => `session${++sessions}` }));
  app.use(
    intentRouter({
      login: { verifierSecret, domain: 'example.com' },
      sequencer: { transport: silent },
      logger: new LogRecorder(),
    }),
  );
  app.use(make.json());
  app.get('/', (req, res) => void res.json(seenOf(req, res, app)));
  app.get('/account', requireLogin(), (_req, res) => void res.end());
  app.get('/count', (req, res) => {
    const counted = req.session as unknown as { count?: number };
    counted.count = (counted.count ?? 0) + 1;
    res.cookie('c', 'v').send(`${counted.count}`);
  });
  app.post('/json', (req, res) => void res.status(201).json({ body: req.body, seen: seenOf(req, res, app) }));
  app.post('/upload', multer().single('file'), (req, res) => {
    res.send(`${req.file?.originalname} ${req.file?.buffer} ${JSON.stringify(req.body)}`);
  });
  app.get('/stream', (_req, res) => {
    res.write('one');
    setImmediate(() => res.end('two'));
  });
  app.get('/large', (_req, res) => void res.send('large '.repeat(1_000)));
  app.get('/redirect', (_req, res) => res.redirect('/elsewhere'));
  app.get('/throws', () => {
    throw Object.assign(new Error('broken'), { status: 418 });
  });
  app.use('/sub', buildSubApp(make));
  app.get('/sub/passes-on', (req, res) => void res.json([req.headers['x-sub'], seenOf(req, res, app)]));
  const onError: ErrorRequestHandler = (error, req, res, _next) => {
    res.status(error.status).json([error.message, seenOf(req, res, app)]);
  };
  app.use('/throws', onError);
  return app;
}

/** Nested apps: each changes the prototypes and restores them. */
function buildSubApp(make: typeof express): Express {
  const [outer, inner] = [make(), make()];
  inner.get('/deep', (req, res) => void res.json(seenOf(req, res, inner)));
  outer.use('/inner', inner);
  outer.get('/inner/back', (req, res) => void res.json(seenOf(req, res, outer)));
  outer.use((req, _res, next) => {
    req.headers['x-sub'] = String(Object.getPrototypeOf(req) === outer.request);
    next();
  });
  return outer;
}

const silent = { call: async () => new Uint8Array(), close: async () => undefined };

const get = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: shop', ...headers, 'Connection: close', '', ''].join('\r\n');
const post = (path: string, type: string, body: string, ...headers: string[]): string =>
  [
    `POST ${path} HTTP/1.1`,
    ...['Host: shop', `Content-Type: ${type}`, `Content-Length: ${body.length}`, ...headers, 'Connection: close'],
    ...['', body],
  ].join('\r\n');
const form = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello\r\n--b--\r\n';

const requests: Record<string, string> = {
  'a page': get('/?a=1&b[c]=2', 'Accept: text/html', 'X-Requested-With: XMLHttpRequest'),
  OPTIONS: get('/').replace('GET', 'OPTIONS'),
  'a conditional request': get('/redirect', 'If-None-Match: *'),
  'a large page, compressed': get('/large', 'Accept-Encoding: gzip'),
  'an error': get('/throws'),
  'a new session': get('/count'),
  JSON: post('/json', 'application/json', '{"a":[1,2]}'),
  'a body in chunks':
    'POST /json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n[]\r\n0\r\n\r\n',
  'Expect: 100-continue': post('/json', 'application/json', '{}', 'Expect: 100-continue'),
  'an upload': post('/upload', 'multipart/form-data; boundary=b', form),
  'a nested app': get('/sub/inner/deep'),
  'an app that calls next()': get('/sub/passes-on'),
  'the key file': get('/.well-known/service-payments.json'),
  'a guarded page': get('/account'),
  'a problem': post('/intent', 'text/plain', 'x', 'Sec-Fetch-Site: same-origin'),
  'three pipelined requests': [get('/'), get('/count'), get('/missing')]
    .join('')
    .replace(/Connection: close\r\n/g, '')
    .replace(/\r\n\r\n$/, '\r\nConnection: close\r\n\r\n'),
  'text that is not HTTP': 'hello\r\n\r\n',
  'a request without a host': 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
};

/** The bytes of the response, without its date. */
async function exchange(server: http.Server, request: string): Promise<string> {
  const { port } = server.address() as AddressInfo;
  const isTls = server instanceof https.Server;
  const socket: Socket = isTls
    ? connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: localhostCertificate.cert })
    : connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(request, 'latin1');
  await closed;
  return Buffer.concat(chunks)
    .toString('latin1')
    .replace(/^Date: .*$/gm, 'Date: now');
}

const protocols: Record<string, { plain: (app: Express) => http.Server; ours: (app: Express) => http.Server }> = {
  http: { plain: (app) => http.createServer(app), ours: (app) => createServer(app) },
  https: {
    plain: (app) => https.createServer(localhostCertificate, app),
    ours: (app) => createServer(app, { tls: localhostCertificate }),
  },
};
const cells = Object.entries(expressVersions).flatMap(([version, make]) =>
  Object.entries(protocols).map(([protocol, makeServers]) => ({ version, make, protocol, ...makeServers })),
);

describe.each(cells)('createServer with $version over $protocol', ({ make, plain, ours }) => {
  const logs: Record<'plain' | 'ours', string[]> = { plain: [], ours: [] };
  let both: readonly [http.Server, http.Server];

  beforeAll(async () => {
    const [one, other] = [buildApp(make, logs.plain), buildApp(make, logs.ours)];
    both = [await listen(plain(one)), await listen(ours(other))];
  });

  test.each(Object.entries(requests))(
    "%s is answered and seen by handlers as with Node's server",
    async (_name, request) => {
      for (const log of [logs.plain, logs.ours]) log.length = 0;
      const [expected, answer] = [await exchange(both[0], request), await exchange(both[1], request)];
      expect(expected).toMatch(/^HTTP\/1\.1 \d/);
      expect(answer).toBe(expected);
      expect(logs.ours).toEqual(logs.plain);
    },
  );

  test('keeps a session', async () => {
    const answers = [];
    for (const server of both) {
      const firstAnswer = await exchange(server, get('/count'));
      const cookie = /connect\.sid=[^;]+/.exec(firstAnswer)?.[0] ?? '';
      answers.push([firstAnswer, await exchange(server, get('/count', `Cookie: ${cookie}`))]);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[0]?.[1]).toMatch(/\r\n\r\n2$/);
  });

  test('sets the prototypes before Express does, on Node 20 and 22', async () => {
    const isPreset = Number.parseInt(process.versions.node, 10) < 24;
    const app = make();
    app.get('/', (_req, res) => void res.end());
    const found: boolean[] = [];
    const server = await listen(ours(app));
    server.prependListener('request', (req, res) => {
      found.push(Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response);
    });
    await exchange(server, get('/'));
    expect(found).toEqual([isPreset, isPreset]);
  });
});

test('createServer passes on the options of the server', async () => {
  const server = createServer(express(), { keepAliveTimeout: 1_234, maxHeaderSize: 500 });
  expect(server.keepAliveTimeout).toBe(1_234);
  const answer = await exchange(await listen(server), get('/', `X: ${'x'.repeat(600)}`));
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  expect(createServer(express())).not.toBeInstanceOf(https.Server);
});

test('createServer serves an app whose prototype is replaced later', async () => {
  const app = express();
  const server = await listen(createServer(app));
  app.request = Object.create(app.request, { greeting: { value: 'hello' } });
  app.get('/', (req, res) => void res.send((req as unknown as { greeting: string }).greeting));
  expect(await exchange(server, get('/'))).toMatch(/hello$/);
});

test('createServer rejects a value that is not an Express app', () => {
  for (const app of [undefined, null, {}, () => undefined, express.Router()]) {
    expect(() => createServer(app as unknown as Express)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    );
  }
});
