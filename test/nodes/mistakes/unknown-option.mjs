import { intentRouter } from 'express-intents';

function start() {
  return intentRouter({ sequencerUrl: 'https://sequencer.example', domian: 'shop.example' }); // the mistake
}

start();
