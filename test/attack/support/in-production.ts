/** Runs this as with `NODE_ENV=production`, which is read when a router is made. */
export async function inProduction<Made>(make: () => Promise<Made> | Made): Promise<Made> {
  const { NODE_ENV: before } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    return await make();
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}
