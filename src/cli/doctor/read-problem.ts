/** The code and the detail of an error answer (RFC 9457); both are missing in an answer that is none. */
export function readProblem(text: string): { readonly code: string | undefined; readonly detail: string } {
  try {
    const { code, detail } = JSON.parse(text) as Record<string, unknown>;
    return { code: typeof code === 'string' ? code : undefined, detail: typeof detail === 'string' ? detail : '' };
  } catch {
    return { code: undefined, detail: '' };
  }
}
