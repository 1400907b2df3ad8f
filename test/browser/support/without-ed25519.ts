/** Runs in front of a page: a browser of some years ago, whose WebCrypto does not know Ed25519. */
export function withoutEd25519(): void {
  // The blank page in front of the first has none at all.
  if (!isSecureContext) return;
  for (const name of ['importKey', 'generateKey'] as const) {
    const original = SubtleCrypto.prototype[name] as (...args: unknown[]) => Promise<unknown>;
    Object.defineProperty(SubtleCrypto.prototype, name, {
      value(this: SubtleCrypto, ...args: unknown[]) {
        if (!JSON.stringify(args).includes('Ed25519')) return original.apply(this, args);
        return Promise.reject(new DOMException('Unrecognized name.', 'NotSupportedError'));
      },
    });
  }
}
