import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { pack, root } from '../package/consumer-project.js';
import { guides, proseOf, textOf } from './guides.js';

interface Link {
  readonly target: string;
  readonly anchor: string | undefined;
}

/** The links of a text that lead nowhere else: `[here](docs/errors.md#rate_limited)`, images and all. */
function relativeLinks(guide: string, text: string): Link[] {
  const links = [...proseOf(text).matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)].map(([, address = '']) => address);
  return links
    .filter((address) => !/^[a-z][a-z+.-]*:/i.test(address))
    .map((address) => {
      const [path = '', anchor] = address.split('#');
      const target = path === '' ? guide : posix.normalize(posix.join(posix.dirname(guide), path));
      return { target, anchor };
    });
}

/** What headings can be linked by, as GitHub makes it of their text. */
function anchorsOf(text: string): string[] {
  const headings = text.replace(/^( *)```[\s\S]*?^\1```$/gm, '').matchAll(/^#{1,6} (.*)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .trim()
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** What is wrong with the links of a guide. */
function problemsOf(guide: string, text: string, packed: ReadonlySet<string>): string[] {
  return relativeLinks(guide, text).flatMap(({ target, anchor }) => {
    const isFolder = [...packed].some((path) => path.startsWith(`${target.replace(/\/$/, '')}/`));
    if (!packed.has(target) && !isFolder) return [`${guide} leads to ${target}, which is not there`];
    if (anchor === undefined || anchorsOf(textOf(target)).includes(anchor)) return [];
    return [`${guide} leads to #${anchor} of ${target}, where there is no such heading`];
  });
}

describe('the guides', () => {
  let packed: Set<string>;

  beforeAll(async () => {
    packed = new Set((await pack('--dry-run')).files.map(({ path }) => path));
  });

  it('lead only to what is packed with them, so that a reader in node_modules gets there as well', () => {
    const read = guides.filter((guide) => packed.has(guide));
    expect(read).toEqual(expect.arrayContaining(['README.md', 'SECURITY.md', 'docs/errors.md', 'docs/going-live.md']));
    expect(read.flatMap((guide) => problemsOf(guide, textOf(guide), packed))).toEqual([]);
  });

  it('lead only to what there is, also those that are for contributors alone', () => {
    const everywhere = guides.flatMap((guide) =>
      relativeLinks(guide, textOf(guide)).filter(({ target }) => !existsSync(posix.join(root, target))),
    );
    expect(everywhere).toEqual([]);
  });

  it('are all to be found: each is linked from README.md, or from a guide that is', () => {
    const reached = new Set(['README.md']);
    for (const guide of reached)
      for (const { target } of relativeLinks(guide, textOf(guide))) {
        if (guides.includes(target)) reached.add(target);
      }
    expect(guides.filter((guide) => !reached.has(guide))).toEqual([]);
  });

  it('would be noticed if they led astray', () => {
    const text =
      '[a](gone.md) [b](#no-such-heading) [c](../README.md) [d](https://example.com) `[e](code.md)`\n\n# A guide\n';
    const problems = problemsOf('docs/errors.md', text, new Set(['README.md', 'docs/errors.md']));
    expect(problems).toEqual([
      'docs/errors.md leads to docs/gone.md, which is not there',
      'docs/errors.md leads to #no-such-heading of docs/errors.md, where there is no such heading',
    ]);
  });
});

test('README.md has at most 120 lines', () => {
  expect(textOf('README.md').split('\n').length - 1).toBeLessThanOrEqual(120);
});
