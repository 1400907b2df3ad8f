const { createSigner } = require('express-intents');

const signer = createSigner(process.env.SHOP_SECRET); // the mistake
console.log(signer);
