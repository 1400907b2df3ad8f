// What is measured. A work is one request, and the servers that answer it side by side: `limit` does it by hand over
// `node:http`, `usual` is the usual way, `one middleware` is the best that an Express app allows. A variant names a module
// of bench/servers/ and its options; a variant with a request of its own asks for something else than the others.
//
// The numbers are what each work has to reach: a variant, in multiples of another.
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

export const works = {
  'create payment': {
    request: payment,
    variants: {
      limit,
      'limit, same answer': { module: 'limit', sameAnswer: true },
      usual,
      'usual, tweetnacl': { module: 'usual', curve: 'tweetnacl' },
      'one middleware': bare,
      'one middleware, createServer': barePreset,
      ours,
      'ours, createServer': oursPreset,
      'ours, gRPC': { ...ours, grpc: true },
      'ours, ledger': { ...ours, ledger: true },
    },
    numbers: [
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
    numbers: [
      { variant: 'ours', of: 'usual', atMost: 1 / 7 },
      // One signature more, which is about an eighth of a payment.
      { variant: 'ours', of: 'ours, payment', atMost: 1.15 },
    ],
  },
  // More ids than are requested while a cached answer is valid: no answer comes from the cache.
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
      'ours, gRPC': { ...ours, grpc: true },
    },
    numbers: [
      { variant: 'ours', of: 'hello-world', atMost: 1.1 },
      { variant: 'ours, createServer', of: 'hello-world', atMost: 0.6 },
    ],
  },
  'status, cached': {
    request: { path: '/status/:id', ids: 50 },
    variants: { limit, usual, 'hello-world': helloWorld, ours, 'ours, createServer': oursPreset },
    numbers: [
      { variant: 'ours', of: 'hello-world', atMost: 1.1 },
      { variant: 'ours, createServer', of: 'hello-world', atMost: 0.4 },
      { variant: 'ours', key: 'upstreamCalls', atMost: 0.02 },
    ],
  },
  'key file': {
    request: { path: '/.well-known/service-payments.json' },
    variants: { limit, usual, ours, 'ours, createServer': oursPreset },
    numbers: [],
  },
  'session check': {
    request: { path: '/account' },
    loggedIn: true,
    variants: { limit, usual, ours, 'ours, createServer': oursPreset },
    numbers: [],
  },
  // A route of the app, with the router in front of it and without.
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
    numbers: [
      { variant: 'ours', of: 'hello-world', atMost: 1.05 },
      { variant: 'ours, createServer', of: 'hello-world', atMost: 0.45 },
    ],
  },
};
