import { fileURLToPath } from 'node:url';
import express, { type RequestHandler } from 'express';

const publicFolder = fileURLToPath(new URL('../public/', import.meta.url));

/** Style, scripts and pictures. A missing one passes on, and ends as any page that does not exist. */
export function staticFiles(): RequestHandler {
  return express.static(publicFolder, { index: false, redirect: false });
}
