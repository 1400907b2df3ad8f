import { startFirefox } from '../engines/firefox.js';
import { startWebKit } from '../engines/webkit.js';
import { contentTests } from './content.js';
import { eventTests } from './events.js';
import { fallbackTests } from './fallback.js';
import { modalTests } from './modal.js';
import { nativeButtonTests } from './native-button.js';
import { pageStyleTests } from './page-styles.js';
import { readableTests } from './readable.js';
import { useHostPages } from './use-host-pages.js';

// The tests of host-pages.full.test.ts, in the other engines.

describe.each([
  ['Firefox', startFirefox],
  ['WebKit', startWebKit],
])('in %s', (_engine, start) => {
  const visit = useHostPages(start);

  contentTests(visit);
  eventTests(visit);
  modalTests(visit);
  pageStyleTests(visit);
  nativeButtonTests(visit);
  fallbackTests(visit);
  readableTests(visit);
});
