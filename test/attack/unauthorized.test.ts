import { describeMatrix } from './support/unauthorized-matrix.js';

// Seven shares no divisor with the lengths of the dimensions. Each value is combined with many others.
describe('unauthorized state changes', () => describeMatrix(7));
