// The workloads of `npm run bench`. A workload is one request and the servers that are compared: `limit` is hand-written
// `node:http`, `usual` is a typical Express app, `one middleware` is the minimum in an Express app. A variant is a module of
// bench/servers/ with its options. A variant can have its own request.
//
// The targets are ratios between two variants.
const payment = { method: 'POST', path: '/intent', body: '{"mode":"payment","order":42}', status: 201 };
const login = { ...payment, body: '{"mode":"login"}' };
const hello = { path: '/hello' };

const limit = { module: 'limit' };
const usual = { module: 'usual' };
const ours = { module: 'ours' };
const oursPreset = { module: 'ours', createServer: true };
const bare = { module: 'bare', sameAnswer: true };
const barePreset = { ...bare, createServer: true };
const helloWorld = { module: 'express', request: hello };
const helloWorldPreset = { ...helloWorld, createServer: true };

export const workloads = {
  'create payment': {
    request: payment,
    variants: {
      limit,
      usual,
      'one middleware': bare,
      'one middleware, createServer': barePreset,
      ours,
      'ours, createServer': oursPreset,
      'ours, ledger': { ...ours, ledger: true },
    },
    targets: [
      { variant: 'ours', of: 'limit', atMost: 1.6 },
      { variant: 'ours', of: 'usual', atMost: 1 / 7 },
      { variant: 'ours, createServer', of: 'limit', atMost: 1.2 },
      { variant: 'ours, ledger', of: 'ours', atMost: 1.6 },
      { variant: 'ours', of: 'usual', key: 'p99Ms', atMost: 1 / 8 },
    ],
  },
  'create login': {
    request: login,
    variants: { limit, usual, ours, 'ours, createServer': oursPreset, 'ours, payment': { ...ours, request: payment } },
    targets: [
      { variant: 'ours', of: 'usual', atMost: 1 / 7 },
      // One more signature, about an eighth of a payment.
      { variant: 'ours', of: 'ours, payment', atMost: 1.15 },
    ],
  },
  // More ids than requests during the lifetime of a cached status, so no response comes from the cache.
  'status, cold': {
    request: { path: '/status/:id', ids: 50_000 },
    variants: {
      limit,
      usual,
      'hello-world': helloWorld,
      'hello-world, createServer': helloWorldPreset,
      'one middleware': bare,
      'one middleware, createServer': barePreset,
      ours,
      'ours, createServer': oursPreset,
    },
    targets: [
      { variant: 'ours', of: 'hello-world', atMost: 1.1 },
      { variant: 'ours, createServer', of: 'hello-world', atMost: 0.6 },
    ],
  },
  'status, cached': {
    request: { path: '/status/:id', ids: 50 },
    variants: { limit, usual, 'hello-world': helloWorld, ours, 'ours, createServer': oursPreset },
    targets: [
      { variant: 'ours', of: 'hello-world', atMost: 1.1 },
      { variant: 'ours, createServer', of: 'hello-world', atMost: 0.4 },
      { variant: 'ours', key: 'upstreamCalls', atMost: 0.02 },
    ],
  },
  'key file': {
    request: { path: '/.well-known/service-payments.json' },
    variants: { limit, usual, ours, 'ours, createServer': oursPreset },
    targets: [],
  },
  // A route of the app, with and without the router.
  'another route': {
    request: hello,
    variants: {
      limit,
      'hello-world': helloWorld,
      'hello-world, one middleware': { ...helloWorld, middleware: true },
      'hello-world, createServer': helloWorldPreset,
      'hello-world, one middleware, createServer': { ...helloWorldPreset, middleware: true },
      ours,
      'ours, createServer': oursPreset,
    },
    targets: [
      { variant: 'ours', of: 'hello-world', atMost: 1.05 },
      { variant: 'ours, createServer', of: 'hello-world', atMost: 0.45 },
    ],
  },
};
