import { describeMatrix } from './support/unauthorised-matrix.js';

// Seven shares no divisor with the lengths of the dimensions. Each value is combined with many others.
describe('unauthorised state changes', () => describeMatrix(7));
