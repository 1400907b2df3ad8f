import { describeHistories } from './settlement-histories.js';

// RUNS for more of them.
describeHistories(Number(process.env.RUNS ?? 40));
