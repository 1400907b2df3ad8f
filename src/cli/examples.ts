import type { Command } from 'commander';
import { paint } from './terminal.js';

/** Puts examples under the help of a command: a line to type, and what it is for. */
export function addExamples(command: Command, examples: readonly (readonly [line: string, meaning: string])[]): void {
  const lines = examples.map(([line, meaning]) => `  ${paint('dim', `# ${meaning}`)}\n  npx express-intents ${line}`);
  command.addHelpText('after', `\n${paint('bold', 'Examples:')}\n${lines.join('\n')}`);
}
