// An Express app with one route and, with `middleware`, an empty middleware.
import * as http from 'node:http';
import express from 'express';
import * as intents from '../../build/index.js';

export default function helloWorld({ createServer = false, middleware = false }) {
  const app = express();
  if (middleware) app.use((_req, _res, next) => next());
  app.get('/hello', (_req, res) => res.send('Hello'));
  return (createServer ? intents : http).createServer(app);
}
