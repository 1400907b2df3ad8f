/**
 * Refuses a request from within a hook: the browser gets this status, the code `request_refused` and the message.
 * @param status 400 to 499, such as 404 for an article that there is not
 */
export function refuse(message: string, status = 400): never {
  throw Object.assign(new Error(message), { status, expose: true });
}
