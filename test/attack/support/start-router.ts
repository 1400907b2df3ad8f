import { intentRouter } from '../../../src/index.js';

// A site that has nothing but its environment.
intentRouter();
