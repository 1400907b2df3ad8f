/** Runs this with `NODE_ENV=production`, which a new router reads. */
export async function inProduction<Result>(make: () => Promise<Result> | Result): Promise<Result> {
  const { NODE_ENV: before } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    return await make();
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}
