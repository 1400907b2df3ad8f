/** Not a `DOMException`, which jest does not recognize as an error. */
class HookTimeout extends Error {
  static {
    HookTimeout.prototype.name = 'TimeoutError';
  }
}

/**
 * The error of a hook of the site that took too long, for `withTimeout`.
 * @param hasLedger whether `hookLimits.timeoutMs` applies
 */
export const hookTimeoutError = (hook: string, timeoutMs: number, hasLedger: boolean) => (): Error => {
  const option = hasLedger ? ', or raise hookLimits.timeoutMs' : '';
  return new HookTimeout(`${hook} timed out after ${timeoutMs} ms. Move slow work out of the hook${option}.`);
};
