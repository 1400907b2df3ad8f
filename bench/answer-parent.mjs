/** Answers what the process that has started this one asks by name (see child.mjs), and ends with it. */
export function answerParent(answers) {
  process.on('message', async ({ n, ask, options }) => {
    try {
      process.send({ n, answer: await answers[ask](options) });
    } catch (error) {
      process.send({ n, error: error.stack });
    }
  });
  process.on('disconnect', () => process.exit());
}
