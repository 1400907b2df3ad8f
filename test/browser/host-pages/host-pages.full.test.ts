import { startChromium } from '../engines/chromium.js';
import { hostPageTests } from './host-page-tests.js';
import { useHostPages } from './use-host-pages.js';

hostPageTests(useHostPages(startChromium));
