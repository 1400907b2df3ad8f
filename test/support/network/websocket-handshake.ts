import { createHash } from 'node:crypto';

/** The response that opens a WebSocket (RFC 6455, section 4.2.2). @param head of the request */
export function webSocketHandshake(head: string): Buffer {
  const [, key] = /sec-websocket-key: (\S+)/i.exec(head) ?? [];
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const lines = ['101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  return Buffer.from(`HTTP/1.1 ${lines.join('\r\n')}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
}
