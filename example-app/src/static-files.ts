import { fileURLToPath } from 'node:url';
import express, { type RequestHandler, Router } from 'express';

const publicFolder = fileURLToPath(new URL('../public/', import.meta.url));

/** Libraries the pages load, served from where npm has put them. */
const vendorFiles: Readonly<Record<string, string>> = {
  'lean-qr.mjs': import.meta.resolve('lean-qr/nano'),
  'nacl.js': import.meta.resolve('tweetnacl/nacl-fast.min.js'),
};

/** Style, scripts and pictures. A missing one passes on, and ends as any page that does not exist. */
export function staticFiles(): RequestHandler {
  const router = Router();
  for (const [name, url] of Object.entries(vendorFiles)) {
    const file = fileURLToPath(url);
    router.get(`/vendor/${name}`, (_req, res) =>
      res.sendFile(file, { headers: { 'Content-Type': 'text/javascript' } }),
    );
  }
  router.use(express.static(publicFolder, { index: false, redirect: false }));
  return router;
}
