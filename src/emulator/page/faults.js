import { startSwitches } from './fault-switches.js';

startSwitches(document.getElementById('switches'));
