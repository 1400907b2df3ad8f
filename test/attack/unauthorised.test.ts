import { describeMatrix } from './support/unauthorised-matrix.js';

// Seven has no divisor in common with the lengths of the dimensions, so that each value is tried with many others.
describe('unauthorised state changes', () => describeMatrix(7));
