import type { IntentErrorCode } from '../../errors.js';
import { limitCodes, originParameter } from './intent-operations.js';
import {
  answers,
  type DescribedSite,
  headerRef,
  type JsonObject,
  type Operation,
  schemaRef,
  upstreamCodes,
} from './operation.js';

/** A user as a wallet has one; of nobody. */
const user = { id: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR' };
const cookieHeader = { 'Set-Cookie': headerRef('Set-Cookie') };
const kept: readonly IntentErrorCode[] = ['internal_error', 'invalid_configuration', 'session_unavailable'];

/** How a login is completed, shown and ended. */
export function sessionOperations(site: DescribedSite, requestSchema: JsonObject): Operation[] {
  const { config } = site;
  const path = config.routes.session;
  if (!config.login || path === false) return [];
  const shared = { path, tellsLimit: config.rateLimits?.store !== undefined };
  return [
    { ...completeLogin(site, requestSchema), ...shared },
    {
      ...{ method: 'get', path, operationId: 'showSession', summary: 'Who is logged in' },
      security: [{}, { session: [] }],
      answers: { 200: answers('The user, or null.', 'Session', { user }) },
      codes: ['internal_error'],
    },
    {
      ...{ method: 'delete', operationId: 'logOut', summary: 'Logs out', ...shared },
      parameters: [originParameter],
      security: [{}, { session: [] }],
      answers: { 204: { description: 'Nobody is logged in any more.', headers: cookieHeader } },
      codes: ['cross_site_request', 'unsupported_media_type', ...limitCodes(config), ...kept],
    },
  ];
}

function completeLogin({ config, hooks }: DescribedSite, schema: JsonObject): Omit<Operation, 'path'> {
  const asksFirst = config.login?.confirm === true;
  const codes: readonly (IntentErrorCode | false)[] = [
    ...(['invalid_json', 'invalid_id', 'unknown_field'] as const),
    asksFirst && 'invalid_request',
    ...(['not_supported', 'cross_site_request', 'intent_not_found', 'login_pending'] as const),
    ...(['body_too_large', 'unsupported_media_type', ...limitCodes(config), ...kept, 'signer_failed'] as const),
    ...(['closing', ...upstreamCodes] as const),
    config.ledger !== undefined && 'ledger_unavailable',
    hooks.onLogin !== undefined && 'guard_missing',
  ];
  const done = answers('Logged in, in a new session.', 'LoggedIn', { user }, cookieHeader);
  const asked = asksFirst ? { anyOf: [schemaRef('LoggedIn'), schemaRef('ToConfirm')] } : schemaRef('LoggedIn');
  const example = asksFirst ? { confirm: { user } } : { user };
  return {
    ...{ method: 'post', operationId: 'completeLogin', summary: 'Completes a login for the browser that began it' },
    ...(asksFirst && { description: 'Without `confirm` it only tells who would be logged in.' }),
    parameters: [originParameter],
    security: [{ browser: [] }],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    answers: { 200: { ...done, content: { 'application/json': { schema: asked, example } } } },
    codes: codes.filter((code) => code !== false),
    mayRefuse: hooks.onLogin !== undefined,
  };
}
