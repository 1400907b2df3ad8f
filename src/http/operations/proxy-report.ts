import { timingSafeEqual } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { Request, Response } from 'express';
import { deriveKey } from '../../keys/key-ring.js';

/** `express-intents doctor` sends its token in this header. The site reports in the same header of the response. */
export const doctorHeader = 'Intent-Doctor';

/** The address that the doctor claims in `X-Forwarded-For`. Reserved for documentation (RFC 5737): no visitor has it. */
export const spoofedAddress = '192.0.2.1';

export interface ProxyReport {
  /** The number of addresses in `X-Forwarded-For`. */
  readonly forwarded: number;
  /** How many of them `trust proxy` accepts. */
  readonly trusted: number;
  /** Whether the site uses the spoofed address as the address of the visitor. */
  readonly spoofed: boolean;
  /** Whether the request has any header of a proxy. */
  readonly proxied: boolean;
  /** Whether the connection to the site itself uses TLS. */
  readonly encrypted: boolean;
  /** Whether the site treats the connection of the visitor as https. */
  readonly secure: boolean;
}

/** Proves that the doctor has a secret of the site. It has no other use: it opens no cookie. */
export const doctorToken = (cookieKey: Uint8Array): string =>
  Buffer.from(deriveKey(cookieKey, 'express-intents doctor v1')).toString('base64url');

/** Reports to the doctor how its request arrived. A client without the token gets no report. */
export function proxyReporter(cookieKeys: readonly Uint8Array[] = []): (req: Request, res: Response) => void {
  const name = doctorHeader.toLowerCase();
  const tokens = cookieKeys.map((key) => Buffer.from(doctorToken(key)));
  return (req, res) => {
    const given = req.headers[name];
    if (given === undefined) return;
    const token = Buffer.from(String(given));
    if (!tokens.some((each) => each.length === token.length && timingSafeEqual(each, token))) return;
    res.setHeader(doctorHeader, formatReport(reportOn(req)));
  };
}

const proxyHeaders = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via'];

/** Whether a request has any header that proxies add. */
export const isProxied = ({ headers }: Request): boolean => proxyHeaders.some((name) => headers[name] !== undefined);

function reportOn(req: Request): ProxyReport {
  const addresses = req.get('x-forwarded-for')?.split(',') ?? [];
  return {
    forwarded: addresses.length,
    trusted: req.ips.length,
    spoofed: req.ip === spoofedAddress,
    proxied: isProxied(req),
    encrypted: (req.socket as Partial<TLSSocket>).encrypted === true,
    secure: req.secure,
  };
}

const formatReport = ({ forwarded, trusted, ...flags }: ProxyReport): string => {
  const { spoofed, proxied, encrypted, secure } = flags;
  const counts = `forwarded=${forwarded}, trusted=${trusted}`;
  return `${counts}, spoofed=${+spoofed}, proxied=${+proxied}, encrypted=${+encrypted}, secure=${+secure}`;
};

const reportForm = /^forwarded=(\d+), trusted=(\d+), spoofed=([01]), proxied=([01]), encrypted=([01]), secure=([01])$/;

/** @returns undefined if the site did not report */
export function parseReport(text = ''): ProxyReport | undefined {
  const [, forwarded, trusted, spoofed, proxied, encrypted, secure] = reportForm.exec(text) ?? [];
  if (encrypted === undefined) return undefined;
  const counts = { forwarded: Number(forwarded), trusted: Number(trusted) };
  const flags = { spoofed: spoofed === '1', proxied: proxied === '1', encrypted: encrypted === '1' };
  return { ...counts, ...flags, secure: secure === '1' };
}
