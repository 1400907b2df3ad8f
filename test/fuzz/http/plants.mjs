// Planted faults of a site, which the fuzzer must find.
const onSome = (act) => (app, service) =>
  app.use((req, res, next) =>
    req.method === 'GET' && req.headers['if-none-match'] !== undefined ? act(req, res, next, service) : next(),
  );

export const plants = {
  throws: onSome(() => {
    setImmediate(() => {
      throw new TypeError('planted');
    });
  }),
  hangs: onSome(() => undefined),
  leaks: onSome((_req, res) => void res.end('canary-of-the-service')),
  changes: onSome((_req, _res, next, service) => {
    void service.call({ method: 'createIntent' });
    next();
  }),
};
