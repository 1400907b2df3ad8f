// The ledger uses the clock of the database with an unqualified `now()`. With this search path it is a function of the tests,
// which must exist before the tables, since their defaults store the function.

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

/** Stops the clock at the ISO 8601 time `$1`. */
export const stopClock = `update fake_time.clock set fixed = $1::text::timestamptz, ahead = '0'`;

/** Advances the clock, stopped or not, by `$1` milliseconds, as text. */
export const moveClock = `update fake_time.clock set ahead = ahead + $1::text::float8 * interval '1 millisecond'`;
