import express from 'express';
import { requireLogin } from 'express-intents';

const app = express();
app.get('/account', requireLogin({ loginURL: '/login' }), (_req, res) => res.end()); // the mistake
