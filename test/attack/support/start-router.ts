import { intentRouter } from '../../../src/index.js';

// A site that is configured only by its environment.
intentRouter();
