/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  transform: { '^.+\\.js$': ['@swc/jest', { jsc: { target: 'es2022' }, module: { type: 'commonjs' } }] },
  // Compile these two packages, which are ES modules, and nothing else.
  transformIgnorePatterns: ['/node_modules/(?!(express-intents|jose)/)'],
};
