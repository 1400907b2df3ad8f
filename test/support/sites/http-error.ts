/** The body of an error response. */
export interface HttpProblem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail?: string;
  instance?: string;
}

/** An error like those of the package http-errors. */
export function httpError(status: number, message: string, expose: boolean): Error {
  return Object.assign(new Error(message), { status, expose });
}
