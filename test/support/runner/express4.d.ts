/** Express 4 under another name; for what the tests do with it, its types are those of Express 5. */
declare module 'express4' {
  import express from 'express';
  export default express;
}
