// Loaded on demand, only in a bundle: the elements.js that the server serves already contains the configuration.
import { requestJson } from './flow/api.js';
import type { ElementRoutes, SiteConfig } from './site-config.js';

/** If no answer arrives within this time, the defaults apply. */
const timeoutMs = 3_000;
let loading: Promise<void> | undefined;

/** Requests the configuration of the site, once for all elements of the page, and again after a failure. Never rejects. */
export function loadSite(site: SiteConfig, { elements }: ElementRoutes): Promise<void> {
  loading ??= requestJson<SiteConfig>(elements && `${elements}/site.json`, AbortSignal.timeout(timeoutMs)).then(
    (answer) => {
      const settable = site as unknown as Record<string, unknown>;
      for (const [name, value] of Object.entries(answer)) settable[name] = value;
      settable.load = undefined;
    },
    () => {
      loading = undefined;
    },
  );
  return loading;
}
