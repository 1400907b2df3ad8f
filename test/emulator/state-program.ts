import { startSequencer } from '../../src/emulator/index.js';

// A sequencer in a process of its own, which says where it is, or why it is not.
const [stateFile = '', domain = '', origin = '', port = '0'] = process.argv.slice(2);
try {
  const { url } = await startSequencer({
    stateFile,
    port: Number(port),
    unref: false,
    localDomains: domain === '' ? {} : { [domain]: origin },
  });
  console.log(JSON.stringify({ url }));
} catch (error) {
  console.log(JSON.stringify({ problem: (error as Error).message }));
}
