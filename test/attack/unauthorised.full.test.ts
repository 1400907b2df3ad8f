import { describeMatrix } from './support/unauthorised-matrix.js';

describe('unauthorised state changes, every combination', () => describeMatrix(1));
