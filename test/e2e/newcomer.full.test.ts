import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWallet } from 'express-intents/testing';
import { ConsumerProject, root } from '../package/consumer-project.js';
import { copyEmptyData } from '../support/databases/embedded-template.js';
import { eventually } from '../support/eventually.js';

// The example of the getting-started guide: an empty folder, the package as installed by npm, and the files of the example.

const folder = 'docs/examples/tested-shop';
let project: ConsumerProject;

beforeAll(async () => {
  project = await ConsumerProject.create();
  for (const name of ['jest', 'supertest']) project.link(name);
  project.copy(folder);
  // The time limit of the guide's test holds for a copied ledger. Creating the first one can take longer on a busy machine.
  const create = "import { temporaryLedger } from 'express-intents/testing'; await (await temporaryLedger()).remove();";
  expect(await project.node(['--input-type=module', '-e', create])).toMatchObject({ code: 0, stderr: '' });
});
afterAll(() => project.remove());

test('the test of the tested shop passes', async () => {
  const { scripts } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const [program, ...args] = scripts.test.split(' ');
  expect(program).toBe('node');
  const command = [...args, '--detectOpenHandles'];
  const { code, stderr } = await project.node(command, { NO_COLOR: '1' }, { timeoutMs: 120_000 });
  expect(stderr).toMatch(/^Tests: +1 passed, 1 total$/m);
  expect(stderr).not.toMatch(/open handle|did not exit/);
  expect(code).toBe(0);
});

test('the tested shop starts, shows its button and is paid', async () => {
  await copyEmptyData(project.path('ledger/data'));
  const environment = {
    INTENT_SEQUENCER_URL: 'simulator',
    INTENT_SIMULATOR_PORT: '0',
    INTENT_DATABASE_URL: './ledger',
  };
  const { origin, simulator, kill } = await project.startSite(['server.js'], { ...environment, PORT: '0' });
  try {
    expect(await (await fetch(origin)).text()).toContain(
      '<intent-button mode="payment" order="tea" success-url="/thanks/{{INTENT_ID}}">',
    );
    expect((await fetch(`${origin}/intent/v1/elements.js`)).status).toBe(200);
    const headers = { 'content-type': 'application/json', origin };
    const created = await fetch(`${origin}/intent`, { method: 'POST', headers, body: '{"order":"tea"}' });
    const { client_secret: code } = (await created.json()) as { client_secret: string };
    const { id } = await createWallet({ url: simulator, name: 'Ada' }).pay(code);
    await eventually(async () => {
      await fetch(`${origin}/status/${id}`);
      expect(await (await fetch(`${origin}/thanks/${id}`)).text()).toBe('Paid. Thank you! Your order: tea.');
    });
  } finally {
    kill();
  }
});
