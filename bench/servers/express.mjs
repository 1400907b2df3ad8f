// An Express app of one route and nothing else.
import * as http from 'node:http';
import express from 'express';
import * as intents from '../../dist/index.js';

export default function helloWorld({ createServer = false }) {
  const app = express();
  app.get('/hello', (_req, res) => res.send('Hello'));
  return (createServer ? intents : http).createServer(app);
}
