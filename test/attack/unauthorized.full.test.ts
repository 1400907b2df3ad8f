import { describeMatrix } from './support/unauthorized-matrix.js';

describe('unauthorized state changes, every combination', () => describeMatrix(1));
