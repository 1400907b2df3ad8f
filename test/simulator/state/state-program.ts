import { startSimulator } from '../../../src/simulator/index.js';

// A sequencer in its own process. Prints its URL, or the error of its start.
const [stateFile = '', domain = '', origin = '', port = '0'] = process.argv.slice(2);
try {
  const { url } = await startSimulator({
    stateFile,
    port: Number(port),
    unref: false,
    localDomains: domain === '' ? {} : { [domain]: origin },
  });
  console.log(JSON.stringify({ url }));
} catch (error) {
  console.log(JSON.stringify({ problem: (error as Error).message }));
}
