import { intentRouter } from 'express-intents';

function start() {
  return intentRouter({ sequencer: { url: 'https://sequencer.example' }, domian: 'shop.example' }); // the mistake
}

start();
