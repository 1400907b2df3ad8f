import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../package/consumer-project.js';

/** A fenced block of a guide. */
export interface Block {
  /** Path of the guide, from the root of the repository. */
  readonly guide: string;
  /** Line of its first line of text, from 1. */
  readonly line: number;
  /** What follows the opening fence: `ts`, or `ts plain`, or `js file=docs/examples/first-site/app.js`. */
  readonly info: string;
  readonly text: string;
}

/** All pages in the root and in `docs/`. */
export const guides: readonly string[] = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => `docs/${name}`),
].sort();

export const textOf = (guide: string): string => readFileSync(join(root, guide), 'utf8');

/** The fenced blocks of a text, including indented ones in lists. */
export function blocksOf(guide: string, text = textOf(guide)): Block[] {
  const found: Block[] = [];
  let open: { info: string; line: number; indent: string; lines: string[] } | undefined;
  for (const [n, line] of text.split('\n').entries()) {
    const [, indent = '', info = ''] = /^( *)```(.*)$/.exec(line) ?? [];
    const isFence = /^ *```/.test(line);
    if (open && isFence) {
      found.push({ guide, line: open.line, info: open.info, text: `${open.lines.join('\n')}\n` });
      open = undefined;
    } else if (open) open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    else if (isFence) open = { info: info.trim(), line: n + 2, indent, lines: [] };
  }
  if (open) throw new Error(`${guide}: the block that starts in line ${open.line - 1} does not end.`);
  return found;
}

/** The text without blocks and `code`. */
export const proseOf = (text: string): string =>
  text.replace(/^( *)```[\s\S]*?^\1```$/gm, (block) => block.replace(/[^\n]/g, '')).replace(/`[^`\n]*`/g, '``');

/** The anchors of the headings, as GitHub makes them. */
export function anchorsOf(text: string): string[] {
  const headings = text.replace(/^( *)```[\s\S]*?^\1```$/gm, '').matchAll(/^#{1,6} (.*)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .trim()
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
