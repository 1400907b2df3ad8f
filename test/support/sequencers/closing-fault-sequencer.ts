import { type Answer, type FaultSequencer, startFaultSequencer } from './fault-sequencer.js';

const open: FaultSequencer[] = [];

/** A fault sequencer that is closed when its test is over, however the test ends. */
export async function faultSequencer(answer: Answer): Promise<FaultSequencer> {
  const sequencer = await startFaultSequencer(answer);
  open.push(sequencer);
  return sequencer;
}

afterEach(async () => {
  for (const sequencer of open.splice(0)) await sequencer.close();
});
