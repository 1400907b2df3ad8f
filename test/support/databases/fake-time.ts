// The ledger takes its time from the database and says `now()`, without the name of a schema. With this search path that
// is a function of the tests. It must be there before the tables are made, since their defaults keep the function that
// they found.

export const fakeSearchPath = 'fake_time, pg_catalog, public';

export const fakeTimeSchema = `
create schema fake_time;
create table fake_time.clock (fixed timestamptz, ahead interval not null default '0');
insert into fake_time.clock default values;
create function fake_time.now() returns timestamptz language sql stable
  as 'select coalesce(fixed, pg_catalog.now()) + ahead from fake_time.clock';
create function fake_time.clock_timestamp() returns timestamptz language sql volatile
  as 'select coalesce(fixed, pg_catalog.clock_timestamp()) + ahead from fake_time.clock';
`;

/** Stops the clock at a time, ISO 8601: `$1`. */
export const stopClock = `update fake_time.clock set fixed = $1::text::timestamptz, ahead = '0'`;

/** Puts the clock on by milliseconds, as text: `$1`; whether it stands or goes. */
export const moveClock = `update fake_time.clock set ahead = ahead + $1::text::float8 * interval '1 millisecond'`;
