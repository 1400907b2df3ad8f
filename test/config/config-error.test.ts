import { ConfigError } from '../../src/errors.js';

// test/nodes/mistakes.mjs shows what Node prints of it.
it('ConfigError has problems and code as properties, and prints neither', () => {
  const problems = [{ setting: 'domain', problem: 'It is wrong.', fix: 'Set it.' }];
  const error = new ConfigError(problems);
  expect(error).toMatchObject({ name: 'ConfigError', code: 'invalid_configuration', status: 500, problems });
  expect(Object.keys(error)).toEqual(['name']);
  expect(error.stack).toMatch(/^ConfigError: express-intents cannot start:\n {2}- domain: It is wrong\.\n {4}Set it\./);
});
