import { startChromium } from '../engines/chromium.js';
import { contentTests } from './content.js';
import { eventTests } from './events.js';
import { fallbackTests } from './fallback.js';
import { modalTests } from './modal.js';
import { nativeButtonTests } from './native-button.js';
import { pageStyleTests } from './page-styles.js';
import { readableTests } from './readable.js';
import { useHostPages } from './use-host-pages.js';

const visit = useHostPages(startChromium);

contentTests(visit);
eventTests(visit);
modalTests(visit);
pageStyleTests(visit);
nativeButtonTests(visit);
fallbackTests(visit);
readableTests(visit);
