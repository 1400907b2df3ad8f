import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { relative } from 'node:path';
import { isFirstStart, setDevelopmentDefaults, trimVariables } from './development-defaults.js';
import { createShop } from './shop.js';
import { shutDownOnSignal } from './shutdown.js';

/** Set HOST to accept connections from other machines. With the simulator, anyone can log in as any user. */
const defaultHost = '127.0.0.1';

await start().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});

async function start(): Promise<void> {
  const env = trimVariables(process.env);
  setDevelopmentDefaults(env);
  const port = readPort(env.PORT || '3000');
  const isFirst = isFirstStart(env);
  const isSimulated = env.INTENT_SEQUENCER_URL === 'simulator';
  const shop = createShop({ isSimulated, trustProxy: env.NODE_ENV === 'production' });
  const server = createServer(shop.app);
  const shutdown = shutDownOnSignal(server, shop.router);
  await listen(server, port, env.HOST || defaultHost);
  if (isFirst) console.log('Creating the database of the shop. This takes a few seconds.');
  const simulator = await shop.ready().catch((error: Error): undefined => {
    // A shutdown during the start is not an error.
    if (shutdown.aborted) return;
    throw isPortInUse(error) ? portInUse('INTENT_SIMULATOR_PORT', Number(env.INTENT_SIMULATOR_PORT || 4747)) : error;
  });
  if (shutdown.aborted) return;
  console.log(`
The Patient Kettle is open.

  Shop       http://localhost:${port}
  Orders     ${ordersIn(env)}
  Sequencer  ${simulator?.url ?? env.INTENT_SEQUENCER_URL}
  Inspector  ${simulator?.inspectorUrl ?? 'only with the simulator'}
  Wallet     ${env.INTENT_WALLET_URL || simulator?.walletUrl || 'unknown: set INTENT_WALLET_URL'}
`);
}

/** The address of the database, without credentials. */
function ordersIn({ INTENT_DATABASE_URL: url = '' }: NodeJS.ProcessEnv): string {
  if (!URL.canParse(url)) return relative('', url);
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Error(`PORT is ${JSON.stringify(text)}. Set it to a number from 1 to 65535.`);
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    if (isPortInUse({ cause: error })) throw portInUse('PORT', port);
    throw new Error(
      `The shop cannot listen on port ${port} of ${host}: ${(error as Error).message}. Set PORT or HOST.`,
    );
  }
}

/** Whether the cause of an error is a port that another process uses. */
function isPortInUse({ cause }: { cause?: unknown }): boolean {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE';
}

function portInUse(variable: string, port: number): Error {
  const other = port < 65_535 ? port + 1 : port - 1;
  return new Error(`Port ${port} is in use. Start the shop with another port: ${variable}=${other} npm start`);
}
