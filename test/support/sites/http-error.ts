/** The body of an error answer. */
export interface HttpProblem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail?: string;
  instance?: string;
}

/** An error as the package http-errors makes them. */
export function httpError(status: number, message: string, expose: boolean): Error {
  return Object.assign(new Error(message), { status, expose });
}
