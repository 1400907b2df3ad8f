import { writeFileSync } from 'node:fs';
import { apiPage } from './api-report.js';

// `npm run api`: from the root, after a build.
writeFileSync('docs/api.md', apiPage());
console.log('docs/api.md is up to date.');
