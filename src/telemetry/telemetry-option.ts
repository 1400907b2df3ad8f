import { findPackage } from '../async/optional-package.js';
import type { ConfigProblem } from '../errors.js';

/** Where spans and metrics go, other than to what is registered with `@opentelemetry/api`. */
export interface TelemetryProviders {
  /** A `TracerProvider` of OpenTelemetry. Default: the one that is registered. */
  readonly tracerProvider?: { getTracer(name: string, version?: string): object } | undefined;
  /** A `MeterProvider` of OpenTelemetry. Default: the one that is registered. */
  readonly meterProvider?: { getMeter(name: string, version?: string): object } | undefined;
}

/** The option `telemetry`. */
export type TelemetryOption = boolean | TelemetryProviders;

/** Whether the app has `@opentelemetry/api`, which is not loaded for that. */
export function hasOpenTelemetry(): boolean {
  return findPackage('@opentelemetry/api') !== undefined;
}

const mend = 'telemetry: true, or telemetry: { tracerProvider, meterProvider } of OpenTelemetry';

/** What is wrong with the option. */
export function problemsOfTelemetry(option: TelemetryOption | undefined): ConfigProblem[] {
  if (option === undefined || option === false) return [];
  if (!hasOpenTelemetry()) {
    const problem = 'It needs the package @opentelemetry/api, which is missing.';
    return [{ setting: 'telemetry', problem, mend: 'npm install @opentelemetry/api' }];
  }
  if (option === true) return [];
  const { tracerProvider, meterProvider, ...others } = option;
  const isWrong =
    Object.keys(others).length > 0 ||
    (tracerProvider !== undefined && typeof tracerProvider?.getTracer !== 'function') ||
    (meterProvider !== undefined && typeof meterProvider?.getMeter !== 'function');
  return isWrong ? [{ setting: 'telemetry', problem: 'It names something that is no provider.', mend }] : [];
}
