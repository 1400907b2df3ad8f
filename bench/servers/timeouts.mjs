// The site of ours.mjs behind a middleware for timeouts: it answers a request with the query `late` itself, and calls the
// router afterwards all the same, as many such middlewares do.
import ours from './ours.mjs';

export default function timeouts(options) {
  const before = (app) =>
    app.use((req, res, next) => {
      if (req.query.late === undefined) return next();
      res.once('close', () => next());
      res.status(503).end();
    });
  return ours({ ...options, before });
}
