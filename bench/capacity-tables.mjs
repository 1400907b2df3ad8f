// What `capacity.mjs` has measured, as docs/scaling.md shows it.
import { table } from './report.mjs';

const works = {
  payment: 'a payment is created, as the button asks for it',
  login: 'a login is begun and completed',
  status: 'a status is asked for, and asked of the service',
  look: 'a poll of an unpaid payment',
  settle: 'a payment is settled, by an `onPaid` that does nothing',
};

const ms = (us) => (us / 1_000).toFixed(2);
/** Of one core that is half busy. */
const perSecond = (us) => (500_000 / us).toFixed(0);

const tables = {
  site: (constants) =>
    table(
      ['one', 'CPU, ms', 'a second, when half busy', 'calls to the service'],
      Object.entries(works).map(([work, name]) => {
        const { siteUs, calls } = constants[work];
        return [name, ms(siteUs), perSecond(siteUs), calls.toFixed(0)];
      }),
    ),
  postgres: (constants) =>
    table(
      ['one', 'CPU, ms', 'transactions', 'rows left dead', 'WAL, kB'],
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
