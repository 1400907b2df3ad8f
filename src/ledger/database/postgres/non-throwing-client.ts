import type { Client, ClientConfig } from 'pg';

/**
 * A client of pg that can always be made. It reads the certificates that its URL names when it is made, and where one is
 * missing just then it throws; a pool makes clients where nobody catches that, and the process would end. This one says so
 * when it is to connect.
 */
export function carefulClient(ClientOfPg: typeof Client): typeof Client {
  function CarefulClient(config: ClientConfig): Client {
    try {
      return new ClientOfPg(config);
    } catch (failure) {
      const client = new ClientOfPg({ ...config, connectionString: 'postgres://localhost' });
      client.connect = failingWith(failure);
      return client;
    }
  }
  // To `new` it is a class: what a constructor returns is what was made. A class that calls `super()` twice may do the same.
  return CarefulClient as unknown as typeof Client;
}

/** As `connect` of a client, which calls back or gives a promise. */
function failingWith(failure: unknown): Client['connect'] {
  return ((done?: (error: unknown) => void) =>
    done ? process.nextTick(done, failure) : Promise.reject(failure)) as Client['connect'];
}
