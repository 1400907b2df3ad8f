import { describeHistories } from './settlement-histories.js';

// RUNS sets the number of histories.
describeHistories(Number(process.env.RUNS ?? 40));
