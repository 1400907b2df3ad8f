import { contentTests } from './content.js';
import { eventTests } from './events.js';
import { fallbackTests } from './fallback.js';
import { modalTests } from './modal.js';
import { nativeButtonTests } from './native-button.js';
import { pageStyleTests } from './page-styles.js';
import { readableTests } from './readable.js';
import type { VisitHostPage } from './use-host-pages.js';

/** The tests of the button in pages that were not written for it, in one engine. */
export function hostPageTests(visit: VisitHostPage): void {
  contentTests(visit);
  eventTests(visit);
  modalTests(visit);
  pageStyleTests(visit);
  nativeButtonTests(visit);
  fallbackTests(visit);
  readableTests(visit);
}
