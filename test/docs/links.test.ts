import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { pack, root } from '../package/consumer-project.js';
import { anchorsOf, guides, proseOf, textOf } from './guides.js';

interface Link {
  readonly target: string;
  readonly anchor: string | undefined;
}

/** The relative links and images of a text, such as `[here](docs/errors.md#rate_limited)`. */
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

/** The broken links of a guide. */
function problemsOf(guide: string, text: string, packed: ReadonlySet<string>): string[] {
  return relativeLinks(guide, text).flatMap(({ target, anchor }) => {
    const isFolder = [...packed].some((path) => path.startsWith(`${target.replace(/\/$/, '')}/`));
    if (!packed.has(target) && !isFolder) return [`${guide} leads to ${target}, which does not exist`];
    if (anchor === undefined || anchorsOf(textOf(target)).includes(anchor)) return [];
    return [`${guide} leads to #${anchor} of ${target}, which has no such heading`];
  });
}

/** Only contributors need these, and they have a clone. README.md says that they are in the repository. */
const repositoryOnly = ['CONTRIBUTING.md', 'CODE_OF_CONDUCT.md', 'docs/architecture.md'];

describe('the links of the guides', () => {
  let packed: Set<string>;

  beforeAll(async () => {
    packed = new Set((await pack('--dry-run')).files.map(({ path }) => path));
  });

  it('lead only to packed files, for readers in node_modules, except the documents of the repository in README.md', () => {
    const read = guides.filter((guide) => packed.has(guide));
    expect(read).toEqual(expect.arrayContaining(['README.md', 'SECURITY.md', 'docs/errors.md', 'docs/going-live.md']));
    expect(read.filter((guide) => repositoryOnly.includes(guide))).toEqual([]);
    const ofRepository = new Set([...packed, ...repositoryOnly]);
    const reachedFrom = (guide: string): Set<string> => (guide === 'README.md' ? ofRepository : packed);
    expect(read.flatMap((guide) => problemsOf(guide, textOf(guide), reachedFrom(guide)))).toEqual([]);
    expect(repositoryOnly.flatMap((guide) => problemsOf(guide, textOf(guide), ofRepository))).toEqual([]);
  });

  it('lead only to existing files, also in pages for contributors', () => {
    const everywhere = guides.flatMap((guide) =>
      relativeLinks(guide, textOf(guide)).filter(({ target }) => !existsSync(posix.join(root, target))),
    );
    expect(everywhere).toEqual([]);
  });

  it('reach every guide from README.md', () => {
    const reached = new Set(['README.md']);
    for (const guide of reached)
      for (const { target } of relativeLinks(guide, textOf(guide))) {
        if (guides.includes(target)) reached.add(target);
      }
    expect(guides.filter((guide) => !reached.has(guide))).toEqual([]);
  });
});
