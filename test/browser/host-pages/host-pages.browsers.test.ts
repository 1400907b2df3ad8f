import { startFirefox } from '../engines/firefox.js';
import { startWebKit } from '../engines/webkit.js';
import { hostPageTests } from './host-page-tests.js';
import { useHostPages } from './use-host-pages.js';

describe.each([
  ['Firefox', startFirefox],
  ['WebKit', startWebKit],
])('in %s', (_engine, start) => hostPageTests(useHostPages(start)));
