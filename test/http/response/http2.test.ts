import { once } from 'node:events';
import { connect, createServer, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import { IntentError } from '../../../src/errors.js';
import { sendError } from '../../../src/http/response/problem.js';
import { LogRecorder } from '../../support/sites/site.js';

test('a 413 response over HTTP/2 sets no header Connection, about which Node warns', async () => {
  const names: string[] = [];
  const server = createServer((_req, res: Http2ServerResponse) => {
    const setHeader = res.setHeader.bind(res);
    res.setHeader = (name, value) => {
      names.push(name.toLowerCase());
      setHeader(name, value);
    };
    sendError(res as unknown as Response, new IntentError('body_too_large'), new LogRecorder());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    const [headers] = await once(client.request({ ':path': '/' }).end().resume(), 'response');
    expect(headers[':status']).toBe(413);
    expect(names).toContain('content-type');
    expect(names).not.toContain('connection');
  } finally {
    client.destroy();
    server.close();
  }
});
