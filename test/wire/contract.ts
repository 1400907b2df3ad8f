/**
 * The contract, written only from docs/interface.md sections 2.1 to 2.6 and docs/protocol.md sections 3 and 5. The tests
 * compare proto/intents.proto and the generated codecs with it.
 *
 * A field is `name type number`. The members of a oneof are prefixed with its name and a slash.
 */
export interface MessageContract {
  readonly from: string;
  readonly fields: readonly string[];
  readonly enums?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const value = (from: string): MessageContract => ({ from, fields: ['value bytes 1'] });
const result = { Result: { OK: 0 } };

export const contract: Readonly<Record<string, MessageContract>> = {
  Request: {
    from: 'interface 2.1',
    fields: ['version string 1', 'service string 2', 'method string 3', 'body bytes 4'],
  },
  Response: {
    from: 'interface 2.1',
    fields: ['result Result 1', 'body bytes 2', 'message string 3'],
    enums: { Result: { OK: 0, ERROR: 1 } },
  },
  ChainAccountId: value('interface 2.2'),
  Signature: value('interface 2.2'),
  MessageId: value('interface 2.2'),
  RendezvousKey: value('interface 2.2'),
  IntentId: value('interface 2.2'),
  Domain: { from: 'interface 2.2', fields: ['domain string 1'] },
  Message: {
    from: 'interface 2.3',
    fields: [
      'id MessageId 1',
      'kind/request_to_grab_bill RequestToGrabBill 2',
      'send_message_request_signature Signature 3',
      'kind/airdrop_received AirdropReceived 4',
      'kind/request_to_receive_bill RequestToReceiveBill 5',
      'kind/code_scanned CodeScanned 6',
      'kind/client_rejected_payment ClientRejectedPayment 7',
      'kind/intent_submitted IntentSubmitted 8',
      'kind/webhook_called WebhookCalled 9',
      'kind/request_to_login RequestToLogin 10',
      'kind/client_rejected_login ClientRejectedLogin 12',
    ],
  },
  RequestToReceiveBill: {
    from: 'interface 2.4 and protocol 3',
    fields: [
      'requestor_account ChainAccountId 1',
      'exchange_data/exact ExchangeData 2',
      'exchange_data/partial ExchangeDataWithoutRate 3',
      'domain Domain 4',
      'verifier ChainAccountId 5',
      'signature Signature 6',
      'rendezvous_key RendezvousKey 7',
    ],
  },
  ExchangeData: {
    from: 'interface 2.4',
    fields: ['currency string 1', 'exchange_rate double 2', 'native_amount double 3', 'quarks uint64 4'],
  },
  ExchangeDataWithoutRate: { from: 'interface 2.4', fields: ['currency string 1', 'native_amount double 2'] },
  RequestToLogin: {
    from: 'interface 2.5',
    fields: ['domain Domain 1', 'verifier ChainAccountId 4', 'signature Signature 5', 'rendezvous_key RendezvousKey 6'],
  },
  GetStatusRequest: { from: 'interface 2.6', fields: ['intent_id IntentId 1'] },
  GetStatusResponse: {
    from: 'interface 2.6',
    fields: ['exists bool 1', 'code_scanned bool 2', 'intent_submitted bool 3'],
  },
  CodeScanned: { from: 'protocol 3', fields: ['timestamp google.protobuf.Timestamp 1'] },
  ClientRejectedPayment: { from: 'protocol 3', fields: ['intent_id IntentId 1'] },
  ClientRejectedLogin: { from: 'protocol 3', fields: ['timestamp google.protobuf.Timestamp 4'] },
  IntentSubmitted: { from: 'protocol 3', fields: ['intent_id IntentId 1'] },
  WebhookCalled: { from: 'protocol 3', fields: ['timestamp google.protobuf.Timestamp 1'] },
  AirdropReceived: {
    from: 'protocol 3',
    fields: ['exchange_data ExchangeData 2', 'timestamp google.protobuf.Timestamp 3'],
  },
  RequestToGrabBill: { from: 'protocol 3', fields: ['requestor_account ChainAccountId 1'] },
  RequestToPayBill: { from: 'protocol 3, which gives it no field and no number in Message.kind', fields: [] },
  SendMessageRequest: {
    from: 'protocol 5',
    fields: ['message Message 1', 'rendezvous_key RendezvousKey 2', 'signature Signature 3'],
  },
  SendMessageResponse: {
    from: 'protocol 5',
    fields: ['result Result 1', 'message_id MessageId 2'],
    enums: { Result: { OK: 0, NO_ACTIVE_STREAM: 1 } },
  },
  OpenMessageStreamRequest: { from: 'protocol 5', fields: ['rendezvous_key RendezvousKey 1', 'signature Signature 2'] },
  OpenMessageStreamResponse: { from: 'protocol 5', fields: ['messages repeated Message 1'] },
  PollMessagesRequest: { from: 'protocol 5', fields: ['rendezvous_key RendezvousKey 1', 'signature Signature 2'] },
  PollMessagesResponse: { from: 'protocol 5', fields: ['messages repeated Message 1'] },
  AckMessagesRequest: {
    from: 'protocol 5',
    fields: ['rendezvous_key RendezvousKey 1', 'message_ids repeated MessageId 2'],
  },
  AckMessagesResponse: { from: 'protocol 5', fields: ['result Result 1'], enums: result },
  RegisterWebhookRequest: { from: 'protocol 5', fields: ['intent_id IntentId 1', 'url string 2'] },
  RegisterWebhookResponse: {
    from: 'protocol 5',
    fields: ['result Result 1'],
    enums: { Result: { OK: 0, ALREADY_REGISTERED: 1, REQUEST_NOT_FOUND: 2, INTENT_EXISTS: 3, INVALID_URL: 4 } },
  },
  GetLoginForThirdPartyAppRequest: {
    from: 'protocol 5',
    fields: ['intent_id IntentId 1', 'verifier ChainAccountId 2', 'signature Signature 3'],
  },
  GetLoginForThirdPartyAppResponse: {
    from: 'protocol 5',
    fields: ['result Result 1', 'user_id ChainAccountId 2'],
    enums: { Result: { OK: 0, REQUEST_NOT_FOUND: 1, LOGIN_NOT_SUPPORTED: 2, NO_USER_LOGGED_IN: 3 } },
  },
  LoginToThirdPartyAppRequest: {
    from: 'protocol 5',
    fields: ['intent_id IntentId 1', 'user_id ChainAccountId 2', 'signature Signature 3'],
  },
  LoginToThirdPartyAppResponse: {
    from: 'protocol 5',
    fields: ['result Result 1'],
    enums: {
      Result: {
        OK: 0,
        REQUEST_NOT_FOUND: 1,
        PAYMENT_REQUIRED: 2,
        LOGIN_NOT_SUPPORTED: 3,
        DIFFERENT_LOGIN_EXISTS: 4,
        INVALID_ACCOUNT: 5,
      },
    },
  },
};

/** The operations by their names in the envelope, with request and response (interface 4.1, protocol 5). */
export const operationContract: readonly (readonly [service: string, method: string, string, string])[] = [
  ['Intents', 'createIntent', 'Message', 'GetStatusResponse'],
  ['MicroPayment', 'getStatus', 'GetStatusRequest', 'GetStatusResponse'],
  ['MicroPayment', 'registerWebhook', 'RegisterWebhookRequest', 'RegisterWebhookResponse'],
  ['Messaging', 'sendMessage', 'SendMessageRequest', 'SendMessageResponse'],
  ['Messaging', 'openMessageStream', 'OpenMessageStreamRequest', 'stream OpenMessageStreamResponse'],
  ['Messaging', 'pollMessages', 'PollMessagesRequest', 'PollMessagesResponse'],
  ['Messaging', 'ackMessages', 'AckMessagesRequest', 'AckMessagesResponse'],
  ['Identity', 'getLoginForThirdPartyApp', 'GetLoginForThirdPartyAppRequest', 'GetLoginForThirdPartyAppResponse'],
  ['Identity', 'loginToThirdPartyApp', 'LoginToThirdPartyAppRequest', 'LoginToThirdPartyAppResponse'],
];
