import { createRequire } from 'node:module';

/** `@opentelemetry/api`, which is the app's own and may be missing. */
export type OpenTelemetryApi = typeof import('@opentelemetry/api');

const require = createRequire(import.meta.url);

/**
 * Where every copy of the API of this major version keeps what was registered with it, be it a provider of spans, one of
 * metrics or a way to keep contexts.
 */
const registry = Symbol.for('opentelemetry.js.api.1');

/** Whether the app has the package. */
export function hasOpenTelemetry(): boolean {
  try {
    require.resolve('@opentelemetry/api');
    return true;
  } catch {
    return false;
  }
}

/**
 * The API, once somebody has registered something with it, and whoever did so has loaded it as well: this takes no time
 * then. Until then nobody would hear of a span, and the package is not even loaded.
 */
export function registeredApi(): OpenTelemetryApi | undefined {
  return Reflect.has(globalThis, registry) ? loadApi() : undefined;
}

/** Loads the API. */
export function loadApi(): OpenTelemetryApi {
  return require('@opentelemetry/api') as OpenTelemetryApi;
}
