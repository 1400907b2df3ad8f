// What is measured. A work is one request, and the servers that answer it side by side: `limit` does it by hand over
// `node:http`, `usual` is the usual way. A variant names a module of bench/servers/ and its options.
const payment = { method: 'POST', path: '/intent', body: '{"mode":"payment","order":42}', status: 201 };
const login = { ...payment, body: '{"mode":"login"}' };
const hello = { path: '/hello' };

const ours = {
  ours: { module: 'ours' },
  'ours, createServer': { module: 'ours', createServer: true },
};
const limitAndUsual = { limit: { module: 'limit' }, usual: { module: 'usual' } };
const helloWorld = {
  'hello-world': { module: 'express', request: hello },
  'hello-world, createServer': { module: 'express', request: hello, createServer: true },
};

export const works = {
  'create payment': {
    request: payment,
    variants: {
      ...limitAndUsual,
      'usual, tweetnacl': { module: 'usual', curve: 'tweetnacl' },
      ...ours,
      'ours, gRPC': { module: 'ours', grpc: true },
      'ours, ledger': { module: 'ours', ledger: true },
    },
  },
  'create login': { request: login, variants: { ...limitAndUsual, ...ours } },
  // More ids than are asked for while an answer lasts: none is answered from what is known.
  'status, cold': {
    request: { path: '/status/:id', ids: 50_000 },
    variants: { ...limitAndUsual, ...helloWorld, ...ours, 'ours, gRPC': { module: 'ours', grpc: true } },
  },
  'status, cached': {
    request: { path: '/status/:id', ids: 50 },
    variants: { ...limitAndUsual, ...helloWorld, ...ours },
  },
  'key file': {
    request: { path: '/.well-known/service-payments.json' },
    variants: { ...limitAndUsual, ...ours },
  },
  'session check': { request: { path: '/account' }, loggedIn: true, variants: { ...limitAndUsual, ...ours } },
  // A route of the app: with the router in front, and without.
  'another route': { request: hello, variants: { ...limitAndUsual, ...helloWorld, ...ours } },
};
