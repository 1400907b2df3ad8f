import { startChromium } from '../engines/chromium.js';
import { eventTests } from './events.js';
import { useHostPages } from './use-host-pages.js';

const visit = useHostPages(startChromium);

eventTests(visit);
