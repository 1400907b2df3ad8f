export const delay = (waitMs: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, waitMs));
