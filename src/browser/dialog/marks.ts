/** The drawings in place of the code, 24 by 24 units. A spinner has no drawing. */
export const marks: Readonly<Record<string, string>> = {
  wallet: 'M17 8V4H4v16h17V8H4M17 14v.1',
  phone: 'M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1M11.5 18h1',
  awaitingConfirmation: 'M12 12a4 4 0 1 0-.1 0M4 20a8 7 0 0 1 16 0',
  done: 'M5 13l4 4L19 7',
  declined: 'M7 7l10 10M17 7L7 17',
  expired: 'M12 2a10 10 0 1 0 .1 0M12 7v5l3 2',
  problem: 'M12 6v7M12 17v.1',
};
