/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  transform: { '^.+\\.js$': ['@swc/jest', { jsc: { target: 'es2022' }, module: { type: 'commonjs' } }] },
  // The package and one that it loads are ES modules: these are compiled, and everything else is not.
  transformIgnorePatterns: ['/node_modules/(?!(express-intents|jose)/)'],
};
