/** Runs before a page: removes Ed25519 from WebCrypto, as in older browsers. */
export function withoutEd25519(): void {
  // The initial blank page has no WebCrypto.
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
