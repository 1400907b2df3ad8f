import { describeHistories } from './settlement-histories.js';

// The short form of settlement-model.full.test.ts.
describeHistories(6);
