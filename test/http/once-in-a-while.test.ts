import { onceInAWhile } from '../../src/http/once-in-a-while.js';

function passing(capacity?: number) {
  const passed: string[] = [];
  let nowMs = 0;
  const pass = onceInAWhile(
    (id) => passed.push(id),
    () => nowMs,
    capacity,
  );
  return {
    passed,
    pass,
    wait: (ms: number): void => {
      nowMs += ms;
    },
  };
}

test('an id is passed on once, and again after a minute', () => {
  const { passed, pass, wait } = passing();
  for (const id of ['a', 'b', 'a', 'a']) pass(id);
  expect(passed).toEqual(['a', 'b']);
  wait(59_999);
  pass('a');
  expect(passed).toEqual(['a', 'b']);
  wait(1);
  pass('a');
  expect(passed).toEqual(['a', 'b', 'a']);
});

test('so many are known and no more; one that was forgotten is passed on again', () => {
  const { passed, pass } = passing(2);
  for (const id of ['a', 'b', 'c', 'a', 'c']) pass(id);
  expect(passed).toEqual(['a', 'b', 'c', 'a']);
});
