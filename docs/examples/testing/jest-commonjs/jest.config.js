/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  testTimeout: 60_000, // the first run compiles packages
  transform: { '^.+\\.c?js$': ['@swc/jest', { jsc: { target: 'es2022' }, module: { type: 'commonjs' } }] },
  // Compile these packages, which have ES modules or import(), and nothing else.
  transformIgnorePatterns: ['/node_modules/(?!(express-intents|jose|@electric-sql/pglite)/)'],
};
