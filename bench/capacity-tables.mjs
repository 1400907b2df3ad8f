// The results of `capacity.mjs`, as docs/measurements.md shows them.
import { table } from './report.mjs';

const works = {
  payment: 'create a payment, as the button does',
  login: 'start and complete a login',
  status: 'request a status, with a call to the service',
  look: 'poll an unpaid payment',
  settle: 'settle a payment, with an `onPaid` that does nothing',
};

const ms = (us) => (us / 1_000).toFixed(2);
/** Of one core that is half busy. */
const perSecond = (us) => (500_000 / us).toFixed(0);

const tables = {
  site: (constants) =>
    table(
      ['operation', 'CPU, ms', 'per second on half a core', 'calls to the service'],
      Object.entries(works).map(([work, name]) => {
        const { siteUs, calls } = constants[work];
        return [name, ms(siteUs), perSecond(siteUs), calls.toFixed(0)];
      }),
    ),
  postgres: (constants) =>
    table(
      ['operation', 'CPU, ms', 'transactions', 'dead rows', 'WAL, kB'],
      Object.entries(works)
        .filter(([work]) => constants[work].transactions > 0)
        .map(([work, name]) => {
          const { postgresUs, transactions, deadRows, walBytes } = constants[work];
          return [name, ms(postgresUs), transactions.toFixed(1), deadRows.toFixed(0), (walBytes / 1_000).toFixed(1)];
        }),
    ),
};

/** The table of a name, `site` or `postgres`; undefined for another. */
export const capacityTable = (name, constants) => tables[name]?.(constants);
