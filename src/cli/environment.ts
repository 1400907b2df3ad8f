import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Command } from 'commander';
import { processEnvironment } from '../config/config.js';
import type { Environment } from '../config/config-options.js';
import { IntentError } from '../errors.js';

/** The option of every command that reads the environment. */
export interface EnvironmentOptions {
  readonly envFile?: string;
}

/** Lets a command read the environment from a file as well. */
export function addEnvFile(command: Command): Command {
  return command.option('--env-file <file>', 'read from this file what the environment does not set');
}

/**
 * What a site would start with: the environment, and from the file what is not set there, as with `node --env-file`.
 * @throws {IntentError} `invalid_configuration` where the file cannot be read
 */
export function readEnvironment({ envFile }: EnvironmentOptions): Environment {
  if (envFile === undefined) return processEnvironment();
  return { ...parseEnv(readText(envFile)), ...processEnvironment() };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const message = `The file ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`;
    throw new IntentError('invalid_configuration', message);
  }
}
