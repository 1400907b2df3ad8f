let loading: Promise<typeof import('jose')> | undefined;

/** Loads jose when something is first sealed, opened or verified. An `import` of its own each time would cost more than both. */
export function loadJose(): Promise<typeof import('jose')> {
  loading ??= import('jose');
  return loading;
}
