const { createSigner } = require('express-intents');

const signer = createSigner('not a secret'); // the mistake
console.log(signer);
