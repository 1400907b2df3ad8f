/** What a visitor is told, by the `code` of the answer; codes that only a broken page causes have no sentence of their own. */
const sentences = {
  offline: 'We cannot reach the shop. Please check your connection and try again.',
  insecure_page: 'This browser only does this on https pages, or on localhost.',
  sequencer_unreachable: 'The payment service does not answer at the moment. Please try again soon.',
  sequencer_timeout: 'The payment service takes too long to answer. Please try again soon.',
  sequencer_error: 'The payment service has refused this. Please try again.',
  sequencer_bad_status: 'The payment service has trouble of its own. Please try again soon.',
  sequencer_bad_response: 'The payment service has trouble of its own. Please try again soon.',
  intent_not_found: 'This login is over: it was used already, or took too long. Please begin again.',
  login_pending: 'Your wallet has not confirmed the login yet.',
  login_required: 'Please log in first.',
  not_supported: 'The shop does not offer this at the moment.',
  cross_site_request: 'Your browser says that this came from another site, so we did nothing. Please reload the page.',
};

const otherwise = 'Something went wrong on our side. Please try again in a moment.';

/** An answer that is not the one hoped for. */
export class Problem extends Error {
  /**
   * @param {string} code of the problem+json answer, or one of our own
   * @param {number} [status] HTTP status; 0 when there was no answer at all
   * @param {string} [detail] the shop's own words, for refusals
   */
  constructor(code, status = 0, detail) {
    super(code === 'request_refused' && detail ? detail : (sentences[code] ?? otherwise));
    this.code = code;
    this.status = status;
  }

  /** Whether asking again can help without anyone doing anything. */
  get isPassing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/**
 * The sentence for whatever was thrown.
 * @param {unknown} error
 * @returns {string}
 */
export const sentenceOf = (error) => (error instanceof Problem ? error.message : otherwise);
