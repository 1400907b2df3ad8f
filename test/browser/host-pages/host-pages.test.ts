import { startChromium } from '../engines/chromium.js';
import { contentTests } from './content.js';
import { eventTests } from './events.js';
import { modalTests } from './modal.js';
import { useHostPages } from './use-host-pages.js';

const visit = useHostPages(startChromium);

contentTests(visit);
eventTests(visit);
modalTests(visit);
