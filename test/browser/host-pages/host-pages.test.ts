import { startChromium } from '../engines/chromium.js';
import { contentTests } from './content.js';
import { eventTests } from './events.js';
import { useHostPages } from './use-host-pages.js';

const visit = useHostPages(startChromium);

contentTests(visit);
eventTests(visit);
