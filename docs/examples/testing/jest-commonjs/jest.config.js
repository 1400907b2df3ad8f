/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  transform: { '^.+\\.c?js$': ['@swc/jest', { jsc: { target: 'es2022' }, module: { type: 'commonjs' } }] },
  // Compile these packages, which have ES modules or import(), and nothing else.
  transformIgnorePatterns: ['/node_modules/(?!(express-intents|jose|@electric-sql/pglite)/)'],
};
