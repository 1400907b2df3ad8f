const { intentRouter } = require('express-intents');

intentRouter(); // the mistake
