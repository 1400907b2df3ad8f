/** What went wrong, by the `code` of the answer (see docs/errors.md) or one of the element's own. */
export class Problem extends Error {
  readonly code: string;
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;

  /** @param message the site's own words, for refusals; else nothing that people are shown */
  constructor(code: string, status = 0, message = code, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.status = status;
  }
}

/** Whether asking again can help without anyone doing anything. */
export const isPassing = ({ status }: Problem): boolean => [0, 409, 429].includes(status) || status >= 500;

/** Anything thrown, as a problem with a code. */
export function problemOf(error: unknown, code = 'internal_error'): Problem {
  return error instanceof Problem ? error : new Problem(code, -1, String(error), { cause: error });
}
