// The workloads of `npm run bench`. A workload is one request and the servers that are compared. A variant is a module of
// bench/servers/ with its options, and can have its own request:
//   limit           hand-written `node:http`, without checks
//   one middleware  the minimum in an Express app, with the headers and the cookie of ours
//   ours            an Express app with the router, with all defaults
//   ours, sodium    the same with `useSodium`
//   usual           an Express app with common libraries
// At full load servers run without the memory reducer of V8, at 10 requests a second with it, unless the name says otherwise. The
// variant with tweetnacl frees its arrays on the main thread: another thread and the main thread would wait for the allocator.
//
// A goal compares the CPU of a variant: `of` is a ratio, `minus` a difference, neither the CPU alone.
const payment = { method: 'POST', path: '/intent', body: '{"mode":"payment","order":42}', status: 201 };
const login = { ...payment, body: '{"mode":"login"}' };
const keyed = { ...payment, keyed: true };
const hello = { path: '/hello' };

const limit = { module: 'limit' };
const bare = { module: 'bare' };
const ours = { module: 'ours' };
const sodium = { ...ours, usesSodium: true };
const usual = { module: 'usual' };
const tweetnacl = {
  ...usual,
  signing: 'tweetnacl',
  flags: ['--no-memory-reducer', '--no-concurrent-array-buffer-sweeping'],
};
const helloWorld = { module: 'express', request: hello };
const keyedLedger = { ...ours, request: keyed, ledger: true };
const createServer = true;
const memoryReducer = { flags: [] };

export const workloads = {
  'create payment': {
    request: payment,
    variants: {
      limit,
      'one middleware': bare,
      ours,
      'one middleware, createServer': { ...bare, createServer },
      'ours, createServer': { ...ours, createServer },
      'ours, sodium': sodium,
      'ours, sodium, createServer': { ...sodium, createServer },
      'ours, keyed': { ...ours, request: keyed },
      'ours, keyed, ledger': keyedLedger,
      usual,
      'usual, tweetnacl': tweetnacl,
    },
    goals: [
      { work: 'POST /intent, x one middleware', variant: 'ours', of: 'one middleware', atMost: 1.2 },
      {
        work: 'POST /intent, `createServer`, x one middleware',
        variant: 'ours, createServer',
        of: 'one middleware, createServer',
        atMost: 1.15,
      },
      {
        work: 'POST /intent with a key and Postgres, x without a ledger',
        variant: 'ours, keyed, ledger',
        of: 'ours, keyed',
        atMost: 1.25,
      },
      { work: 'POST /intent, x usual', variant: 'ours', of: 'usual', atMost: 0.12 },
      { work: 'POST /intent, `createServer`, x usual', variant: 'ours, createServer', of: 'usual', atMost: 0.12 },
      { work: 'POST /intent, x usual with tweetnacl', variant: 'ours', of: 'usual, tweetnacl', atMost: 0.02 },
    ],
  },
  'create payment, 10 a second': {
    request: keyed,
    perSecond: 10,
    windowFactor: 5,
    variants: {
      limit: { ...limit, ...memoryReducer },
      'ours, keyed': { ...ours, ...memoryReducer },
      'ours, keyed, ledger': { ...keyedLedger, ...memoryReducer },
      'ours, keyed, ledger, no memory reducer': keyedLedger,
    },
    goals: [{ work: 'POST /intent with a key and Postgres, 10 a second', variant: 'ours, keyed, ledger', atMost: 700 }],
  },
  'create login': {
    request: login,
    variants: {
      limit,
      'ours, payment': { ...ours, request: payment },
      ours,
      'ours, createServer': { ...ours, createServer },
      usual,
    },
    goals: [{ work: 'POST /intent with a login, x payment', variant: 'ours', of: 'ours, payment', atMost: 1.12 }],
  },
  // More ids than requests during the lifetime of a cached status, so no response comes from the cache.
  'status, cold': {
    request: { path: '/status/:id', ids: 50_000 },
    variants: {
      limit,
      'one middleware': bare,
      ours,
      'one middleware, createServer': { ...bare, createServer },
      'ours, createServer': { ...ours, createServer },
      usual,
    },
    goals: [
      { work: 'GET /status, not cached, x one middleware', variant: 'ours', of: 'one middleware', atMost: 1.2 },
      {
        work: 'GET /status, not cached, `createServer`, x one middleware',
        variant: 'ours, createServer',
        of: 'one middleware, createServer',
        atMost: 1.2,
      },
    ],
  },
  // `limit` is faster than the load generator, so it sleeps after most requests.
  'status, cached': {
    keepsCoresAwake: true,
    request: { path: '/status/:id', ids: 50 },
    variants: { limit, ours, 'ours, createServer': { ...ours, createServer }, usual },
    goals: [
      { work: 'GET /status, cached, x limit', variant: 'ours', of: 'limit', atMost: 2.8 },
      {
        work: 'GET /status, cached, `createServer`, x limit',
        variant: 'ours, createServer',
        of: 'limit',
        atMost: 1.15,
      },
    ],
  },
  // A route of the app, with the router and with a middleware that only calls `next`.
  'another route': {
    request: hello,
    variants: {
      'one middleware': { ...helloWorld, middleware: true },
      ours,
      'one middleware, createServer': { ...helloWorld, middleware: true, createServer },
      'ours, createServer': { ...ours, createServer },
    },
    goals: [
      { work: 'another route, minus one middleware', variant: 'ours', minus: 'one middleware', atMost: 2 },
      {
        work: 'another route, `createServer`, minus one middleware',
        variant: 'ours, createServer',
        minus: 'one middleware, createServer',
        atMost: 2,
      },
    ],
  },
};
