// What is needed once there is something to show. It is loaded while the server creates the intent.
export { amountIn } from './amount.js';
export { qrCode } from './qr-code.js';
