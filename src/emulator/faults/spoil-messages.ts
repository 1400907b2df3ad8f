import { decode, encode, v1 } from '../../wire/codec.js';
import { encodeOkResponse } from '../../wire/envelope.js';

type Messages = v1.PollMessagesResponse['messages'];

/** Rewrites the messages in the envelope of pollMessages; an ERROR stays as it is. */
export function spoilMessages(envelope: Uint8Array, rewrite: (messages: Messages) => Messages): Uint8Array {
  const { result, body } = decode(v1.Response, envelope);
  if (result !== v1.Response.Result.OK) return envelope;
  const { messages } = decode(v1.PollMessagesResponse, body);
  return encodeOkResponse(encode(v1.PollMessagesResponse, { messages: rewrite(messages) }));
}
