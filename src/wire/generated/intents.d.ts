import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

/** Namespace intents. */
export namespace intents {

    /** Namespace v1. */
    namespace v1 {

        /**
         * Properties of a Request.
         * @deprecated Use intents.v1.Request.$Properties instead.
         */
        interface IRequest extends intents.v1.Request.$Properties {
        }

        /** Represents a Request. */
        class Request {

            /**
             * Constructs a new Request.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.Request.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Request version. */
            version: string;

            /** Request service. */
            service: string;

            /** Request method. */
            method: string;

            /** Request body. */
            body: Uint8Array;

            /**
             * Encodes the specified Request message. Does not implicitly {@link intents.v1.Request.verify|verify} messages.
             * @param message Request message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.Request.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Request message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.Request & intents.v1.Request.$Shape} Request
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.Request & intents.v1.Request.$Shape;
        }

        namespace Request {

            /** Properties of a Request. */
            interface $Properties {

                /** Request version */
                version?: (string|null);

                /** Request service */
                service?: (string|null);

                /** Request method */
                method?: (string|null);

                /** Request body */
                body?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a Request. */
            type $Shape = intents.v1.Request.$Properties;
        }

        /**
         * Properties of a Response.
         * @deprecated Use intents.v1.Response.$Properties instead.
         */
        interface IResponse extends intents.v1.Response.$Properties {
        }

        /** Represents a Response. */
        class Response {

            /**
             * Constructs a new Response.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.Response.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Response result. */
            result: intents.v1.Response.Result;

            /** Response body. */
            body: Uint8Array;

            /** Response message. */
            message: string;

            /**
             * Encodes the specified Response message. Does not implicitly {@link intents.v1.Response.verify|verify} messages.
             * @param message Response message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.Response.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Response message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.Response & intents.v1.Response.$Shape} Response
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.Response & intents.v1.Response.$Shape;
        }

        namespace Response {

            /** Properties of a Response. */
            interface $Properties {

                /** Response result */
                result?: (intents.v1.Response.Result|null);

                /** Response body */
                body?: (Uint8Array|null);

                /** Response message */
                message?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a Response. */
            type $Shape = intents.v1.Response.$Properties;

            /** Result enum. */
            enum Result {

                /** OK value */
                OK = 0,

                /** ERROR value */
                ERROR = 1
            }
        }

        /**
         * Properties of a ChainAccountId.
         * @deprecated Use intents.v1.ChainAccountId.$Properties instead.
         */
        interface IChainAccountId extends intents.v1.ChainAccountId.$Properties {
        }

        /** Represents a ChainAccountId. */
        class ChainAccountId {

            /**
             * Constructs a new ChainAccountId.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.ChainAccountId.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ChainAccountId value. */
            value: Uint8Array;

            /**
             * Encodes the specified ChainAccountId message. Does not implicitly {@link intents.v1.ChainAccountId.verify|verify} messages.
             * @param message ChainAccountId message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.ChainAccountId.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ChainAccountId message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.ChainAccountId & intents.v1.ChainAccountId.$Shape} ChainAccountId
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.ChainAccountId & intents.v1.ChainAccountId.$Shape;
        }

        namespace ChainAccountId {

            /** Properties of a ChainAccountId. */
            interface $Properties {

                /** ChainAccountId value */
                value?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ChainAccountId. */
            type $Shape = intents.v1.ChainAccountId.$Properties;
        }

        /**
         * Properties of a Signature.
         * @deprecated Use intents.v1.Signature.$Properties instead.
         */
        interface ISignature extends intents.v1.Signature.$Properties {
        }

        /** Represents a Signature. */
        class Signature {

            /**
             * Constructs a new Signature.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.Signature.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Signature value. */
            value: Uint8Array;

            /**
             * Encodes the specified Signature message. Does not implicitly {@link intents.v1.Signature.verify|verify} messages.
             * @param message Signature message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.Signature.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Signature message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.Signature & intents.v1.Signature.$Shape} Signature
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.Signature & intents.v1.Signature.$Shape;
        }

        namespace Signature {

            /** Properties of a Signature. */
            interface $Properties {

                /** Signature value */
                value?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a Signature. */
            type $Shape = intents.v1.Signature.$Properties;
        }

        /**
         * Properties of a MessageId.
         * @deprecated Use intents.v1.MessageId.$Properties instead.
         */
        interface IMessageId extends intents.v1.MessageId.$Properties {
        }

        /** Represents a MessageId. */
        class MessageId {

            /**
             * Constructs a new MessageId.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.MessageId.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** MessageId value. */
            value: Uint8Array;

            /**
             * Encodes the specified MessageId message. Does not implicitly {@link intents.v1.MessageId.verify|verify} messages.
             * @param message MessageId message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.MessageId.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a MessageId message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.MessageId & intents.v1.MessageId.$Shape} MessageId
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.MessageId & intents.v1.MessageId.$Shape;
        }

        namespace MessageId {

            /** Properties of a MessageId. */
            interface $Properties {

                /** MessageId value */
                value?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a MessageId. */
            type $Shape = intents.v1.MessageId.$Properties;
        }

        /**
         * Properties of a RendezvousKey.
         * @deprecated Use intents.v1.RendezvousKey.$Properties instead.
         */
        interface IRendezvousKey extends intents.v1.RendezvousKey.$Properties {
        }

        /** Represents a RendezvousKey. */
        class RendezvousKey {

            /**
             * Constructs a new RendezvousKey.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.RendezvousKey.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** RendezvousKey value. */
            value: Uint8Array;

            /**
             * Encodes the specified RendezvousKey message. Does not implicitly {@link intents.v1.RendezvousKey.verify|verify} messages.
             * @param message RendezvousKey message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.RendezvousKey.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a RendezvousKey message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.RendezvousKey & intents.v1.RendezvousKey.$Shape} RendezvousKey
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.RendezvousKey & intents.v1.RendezvousKey.$Shape;
        }

        namespace RendezvousKey {

            /** Properties of a RendezvousKey. */
            interface $Properties {

                /** RendezvousKey value */
                value?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a RendezvousKey. */
            type $Shape = intents.v1.RendezvousKey.$Properties;
        }

        /**
         * Properties of an IntentId.
         * @deprecated Use intents.v1.IntentId.$Properties instead.
         */
        interface IIntentId extends intents.v1.IntentId.$Properties {
        }

        /** Represents an IntentId. */
        class IntentId {

            /**
             * Constructs a new IntentId.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.IntentId.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** IntentId value. */
            value: Uint8Array;

            /**
             * Encodes the specified IntentId message. Does not implicitly {@link intents.v1.IntentId.verify|verify} messages.
             * @param message IntentId message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.IntentId.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an IntentId message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.IntentId & intents.v1.IntentId.$Shape} IntentId
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.IntentId & intents.v1.IntentId.$Shape;
        }

        namespace IntentId {

            /** Properties of an IntentId. */
            interface $Properties {

                /** IntentId value */
                value?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an IntentId. */
            type $Shape = intents.v1.IntentId.$Properties;
        }

        /**
         * Properties of a Domain.
         * @deprecated Use intents.v1.Domain.$Properties instead.
         */
        interface IDomain extends intents.v1.Domain.$Properties {
        }

        /** Represents a Domain. */
        class Domain {

            /**
             * Constructs a new Domain.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.Domain.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Domain domain. */
            domain: string;

            /**
             * Encodes the specified Domain message. Does not implicitly {@link intents.v1.Domain.verify|verify} messages.
             * @param message Domain message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.Domain.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Domain message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.Domain & intents.v1.Domain.$Shape} Domain
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.Domain & intents.v1.Domain.$Shape;
        }

        namespace Domain {

            /** Properties of a Domain. */
            interface $Properties {

                /** Domain domain */
                domain?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a Domain. */
            type $Shape = intents.v1.Domain.$Properties;
        }

        /**
         * Properties of a Message.
         * @deprecated Use intents.v1.Message.$Properties instead.
         */
        interface IMessage extends intents.v1.Message.$Properties {
        }

        /** Represents a Message. */
        class Message {

            /**
             * Constructs a new Message.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.Message.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Message id. */
            id?: (intents.v1.MessageId.$Properties|null);

            /** Message sendMessageRequestSignature. */
            sendMessageRequestSignature?: (intents.v1.Signature.$Properties|null);

            /** Message requestToGrabBill. */
            requestToGrabBill?: (intents.v1.RequestToGrabBill.$Properties|null);

            /** Message airdropReceived. */
            airdropReceived?: (intents.v1.AirdropReceived.$Properties|null);

            /** Message requestToReceiveBill. */
            requestToReceiveBill?: (intents.v1.RequestToReceiveBill.$Properties|null);

            /** Message codeScanned. */
            codeScanned?: (intents.v1.CodeScanned.$Properties|null);

            /** Message clientRejectedPayment. */
            clientRejectedPayment?: (intents.v1.ClientRejectedPayment.$Properties|null);

            /** Message intentSubmitted. */
            intentSubmitted?: (intents.v1.IntentSubmitted.$Properties|null);

            /** Message webhookCalled. */
            webhookCalled?: (intents.v1.WebhookCalled.$Properties|null);

            /** Message requestToLogin. */
            requestToLogin?: (intents.v1.RequestToLogin.$Properties|null);

            /** Message clientRejectedLogin. */
            clientRejectedLogin?: (intents.v1.ClientRejectedLogin.$Properties|null);

            /** Message kind. */
            kind?: ("requestToGrabBill"|"airdropReceived"|"requestToReceiveBill"|"codeScanned"|"clientRejectedPayment"|"intentSubmitted"|"webhookCalled"|"requestToLogin"|"clientRejectedLogin");

            /**
             * Encodes the specified Message message. Does not implicitly {@link intents.v1.Message.verify|verify} messages.
             * @param message Message message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.Message.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Message message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.Message & intents.v1.Message.$Shape} Message
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.Message & intents.v1.Message.$Shape;
        }

        namespace Message {

            /** Properties of a Message. */
            interface $Properties {

                /** Message id */
                id?: (intents.v1.MessageId.$Properties|null);

                /** Message sendMessageRequestSignature */
                sendMessageRequestSignature?: (intents.v1.Signature.$Properties|null);

                /** Message requestToGrabBill */
                requestToGrabBill?: (intents.v1.RequestToGrabBill.$Properties|null);

                /** Message airdropReceived */
                airdropReceived?: (intents.v1.AirdropReceived.$Properties|null);

                /** Message requestToReceiveBill */
                requestToReceiveBill?: (intents.v1.RequestToReceiveBill.$Properties|null);

                /** Message codeScanned */
                codeScanned?: (intents.v1.CodeScanned.$Properties|null);

                /** Message clientRejectedPayment */
                clientRejectedPayment?: (intents.v1.ClientRejectedPayment.$Properties|null);

                /** Message intentSubmitted */
                intentSubmitted?: (intents.v1.IntentSubmitted.$Properties|null);

                /** Message webhookCalled */
                webhookCalled?: (intents.v1.WebhookCalled.$Properties|null);

                /** Message requestToLogin */
                requestToLogin?: (intents.v1.RequestToLogin.$Properties|null);

                /** Message clientRejectedLogin */
                clientRejectedLogin?: (intents.v1.ClientRejectedLogin.$Properties|null);

                /** Message kind */
                kind?: ("requestToGrabBill"|"airdropReceived"|"requestToReceiveBill"|"codeScanned"|"clientRejectedPayment"|"intentSubmitted"|"webhookCalled"|"requestToLogin"|"clientRejectedLogin");

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Narrowed shape of a Message. */
            type $Shape = {
              id?: intents.v1.MessageId.$Shape|null;
              sendMessageRequestSignature?: intents.v1.Signature.$Shape|null;
              requestToGrabBill?: intents.v1.RequestToGrabBill.$Shape|null;
              airdropReceived?: intents.v1.AirdropReceived.$Shape|null;
              requestToReceiveBill?: intents.v1.RequestToReceiveBill.$Shape|null;
              codeScanned?: intents.v1.CodeScanned.$Shape|null;
              clientRejectedPayment?: intents.v1.ClientRejectedPayment.$Shape|null;
              intentSubmitted?: intents.v1.IntentSubmitted.$Shape|null;
              webhookCalled?: intents.v1.WebhookCalled.$Shape|null;
              requestToLogin?: intents.v1.RequestToLogin.$Shape|null;
              clientRejectedLogin?: intents.v1.ClientRejectedLogin.$Shape|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ kind?: undefined; requestToGrabBill?: null; airdropReceived?: null; requestToReceiveBill?: null; codeScanned?: null; clientRejectedPayment?: null; intentSubmitted?: null; webhookCalled?: null; requestToLogin?: null; clientRejectedLogin?: null }|{ kind?: "requestToGrabBill"; requestToGrabBill: intents.v1.RequestToGrabBill.$Shape; airdropReceived?: null; requestToReceiveBill?: null; codeScanned?: null; clientRejectedPayment?: null; intentSubmitted?: null; webhookCalled?: null; requestToLogin?: null; clientRejectedLogin?: null }|{ kind?: "airdropReceived"; requestToGrabBill?: null; airdropReceived: intents.v1.AirdropReceived.$Shape; requestToReceiveBill?: null; codeScanned?: null; clientRejectedPayment?: null; intentSubmitted?: null; webhookCalled?: null; requestToLogin?: null; clientRejectedLogin?: null }|{ kind?: "requestToReceiveBill"; requestToGrabBill?: null; airdropReceived?: null; requestToReceiveBill: intents.v1.RequestToReceiveBill.$Shape; codeScanned?: null; clientRejectedPayment?: null; intentSubmitted?: null; webhookCalled?: null; requestToLogin?: null; clientRejectedLogin?: null }|{ kind?: "codeScanned"; requestToGrabBill?: null; airdropReceived?: null; requestToReceiveBill?: null; codeScanned: intents.v1.CodeScanned.$Shape; clientRejectedPayment?: null; intentSubmitted?: null; webhookCalled?: null; requestToLogin?: null; clientRejectedLogin?: null }|{ kind?: "clientRejectedPayment"; requestToGrabBill?: null; airdropReceived?: null; requestToReceiveBill?: null; codeScanned?: null; clientRejectedPayment: intents.v1.ClientRejectedPayment.$Shape; intentSubmitted?: null; webhookCalled?: null; requestToLogin?: null; clientRejectedLogin?: null }|{ kind?: "intentSubmitted"; requestToGrabBill?: null; airdropReceived?: null; requestToReceiveBill?: null; codeScanned?: null; clientRejectedPayment?: null; intentSubmitted: intents.v1.IntentSubmitted.$Shape; webhookCalled?: null; requestToLogin?: null; clientRejectedLogin?: null }|{ kind?: "webhookCalled"; requestToGrabBill?: null; airdropReceived?: null; requestToReceiveBill?: null; codeScanned?: null; clientRejectedPayment?: null; intentSubmitted?: null; webhookCalled: intents.v1.WebhookCalled.$Shape; requestToLogin?: null; clientRejectedLogin?: null }|{ kind?: "requestToLogin"; requestToGrabBill?: null; airdropReceived?: null; requestToReceiveBill?: null; codeScanned?: null; clientRejectedPayment?: null; intentSubmitted?: null; webhookCalled?: null; requestToLogin: intents.v1.RequestToLogin.$Shape; clientRejectedLogin?: null }|{ kind?: "clientRejectedLogin"; requestToGrabBill?: null; airdropReceived?: null; requestToReceiveBill?: null; codeScanned?: null; clientRejectedPayment?: null; intentSubmitted?: null; webhookCalled?: null; requestToLogin?: null; clientRejectedLogin: intents.v1.ClientRejectedLogin.$Shape })
            );
        }

        /**
         * Properties of a RequestToGrabBill.
         * @deprecated Use intents.v1.RequestToGrabBill.$Properties instead.
         */
        interface IRequestToGrabBill extends intents.v1.RequestToGrabBill.$Properties {
        }

        /** Represents a RequestToGrabBill. */
        class RequestToGrabBill {

            /**
             * Constructs a new RequestToGrabBill.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.RequestToGrabBill.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** RequestToGrabBill requestorAccount. */
            requestorAccount?: (intents.v1.ChainAccountId.$Properties|null);

            /**
             * Encodes the specified RequestToGrabBill message. Does not implicitly {@link intents.v1.RequestToGrabBill.verify|verify} messages.
             * @param message RequestToGrabBill message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.RequestToGrabBill.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a RequestToGrabBill message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.RequestToGrabBill & intents.v1.RequestToGrabBill.$Shape} RequestToGrabBill
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.RequestToGrabBill & intents.v1.RequestToGrabBill.$Shape;
        }

        namespace RequestToGrabBill {

            /** Properties of a RequestToGrabBill. */
            interface $Properties {

                /** RequestToGrabBill requestorAccount */
                requestorAccount?: (intents.v1.ChainAccountId.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a RequestToGrabBill. */
            type $Shape = intents.v1.RequestToGrabBill.$Properties;
        }

        /**
         * Properties of an AirdropReceived.
         * @deprecated Use intents.v1.AirdropReceived.$Properties instead.
         */
        interface IAirdropReceived extends intents.v1.AirdropReceived.$Properties {
        }

        /** Represents an AirdropReceived. */
        class AirdropReceived {

            /**
             * Constructs a new AirdropReceived.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.AirdropReceived.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** AirdropReceived exchangeData. */
            exchangeData?: (intents.v1.ExchangeData.$Properties|null);

            /** AirdropReceived timestamp. */
            timestamp?: (google.protobuf.Timestamp.$Properties|null);

            /**
             * Encodes the specified AirdropReceived message. Does not implicitly {@link intents.v1.AirdropReceived.verify|verify} messages.
             * @param message AirdropReceived message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.AirdropReceived.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an AirdropReceived message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.AirdropReceived & intents.v1.AirdropReceived.$Shape} AirdropReceived
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.AirdropReceived & intents.v1.AirdropReceived.$Shape;
        }

        namespace AirdropReceived {

            /** Properties of an AirdropReceived. */
            interface $Properties {

                /** AirdropReceived exchangeData */
                exchangeData?: (intents.v1.ExchangeData.$Properties|null);

                /** AirdropReceived timestamp */
                timestamp?: (google.protobuf.Timestamp.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an AirdropReceived. */
            type $Shape = intents.v1.AirdropReceived.$Properties;
        }

        /**
         * Properties of a CodeScanned.
         * @deprecated Use intents.v1.CodeScanned.$Properties instead.
         */
        interface ICodeScanned extends intents.v1.CodeScanned.$Properties {
        }

        /** Represents a CodeScanned. */
        class CodeScanned {

            /**
             * Constructs a new CodeScanned.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.CodeScanned.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** CodeScanned timestamp. */
            timestamp?: (google.protobuf.Timestamp.$Properties|null);

            /**
             * Encodes the specified CodeScanned message. Does not implicitly {@link intents.v1.CodeScanned.verify|verify} messages.
             * @param message CodeScanned message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.CodeScanned.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a CodeScanned message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.CodeScanned & intents.v1.CodeScanned.$Shape} CodeScanned
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.CodeScanned & intents.v1.CodeScanned.$Shape;
        }

        namespace CodeScanned {

            /** Properties of a CodeScanned. */
            interface $Properties {

                /** CodeScanned timestamp */
                timestamp?: (google.protobuf.Timestamp.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a CodeScanned. */
            type $Shape = intents.v1.CodeScanned.$Properties;
        }

        /**
         * Properties of a ClientRejectedPayment.
         * @deprecated Use intents.v1.ClientRejectedPayment.$Properties instead.
         */
        interface IClientRejectedPayment extends intents.v1.ClientRejectedPayment.$Properties {
        }

        /** Represents a ClientRejectedPayment. */
        class ClientRejectedPayment {

            /**
             * Constructs a new ClientRejectedPayment.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.ClientRejectedPayment.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ClientRejectedPayment intentId. */
            intentId?: (intents.v1.IntentId.$Properties|null);

            /**
             * Encodes the specified ClientRejectedPayment message. Does not implicitly {@link intents.v1.ClientRejectedPayment.verify|verify} messages.
             * @param message ClientRejectedPayment message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.ClientRejectedPayment.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ClientRejectedPayment message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.ClientRejectedPayment & intents.v1.ClientRejectedPayment.$Shape} ClientRejectedPayment
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.ClientRejectedPayment & intents.v1.ClientRejectedPayment.$Shape;
        }

        namespace ClientRejectedPayment {

            /** Properties of a ClientRejectedPayment. */
            interface $Properties {

                /** ClientRejectedPayment intentId */
                intentId?: (intents.v1.IntentId.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ClientRejectedPayment. */
            type $Shape = intents.v1.ClientRejectedPayment.$Properties;
        }

        /**
         * Properties of an IntentSubmitted.
         * @deprecated Use intents.v1.IntentSubmitted.$Properties instead.
         */
        interface IIntentSubmitted extends intents.v1.IntentSubmitted.$Properties {
        }

        /** Represents an IntentSubmitted. */
        class IntentSubmitted {

            /**
             * Constructs a new IntentSubmitted.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.IntentSubmitted.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** IntentSubmitted intentId. */
            intentId?: (intents.v1.IntentId.$Properties|null);

            /**
             * Encodes the specified IntentSubmitted message. Does not implicitly {@link intents.v1.IntentSubmitted.verify|verify} messages.
             * @param message IntentSubmitted message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.IntentSubmitted.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an IntentSubmitted message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.IntentSubmitted & intents.v1.IntentSubmitted.$Shape} IntentSubmitted
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.IntentSubmitted & intents.v1.IntentSubmitted.$Shape;
        }

        namespace IntentSubmitted {

            /** Properties of an IntentSubmitted. */
            interface $Properties {

                /** IntentSubmitted intentId */
                intentId?: (intents.v1.IntentId.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an IntentSubmitted. */
            type $Shape = intents.v1.IntentSubmitted.$Properties;
        }

        /**
         * Properties of a WebhookCalled.
         * @deprecated Use intents.v1.WebhookCalled.$Properties instead.
         */
        interface IWebhookCalled extends intents.v1.WebhookCalled.$Properties {
        }

        /** Represents a WebhookCalled. */
        class WebhookCalled {

            /**
             * Constructs a new WebhookCalled.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.WebhookCalled.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** WebhookCalled timestamp. */
            timestamp?: (google.protobuf.Timestamp.$Properties|null);

            /**
             * Encodes the specified WebhookCalled message. Does not implicitly {@link intents.v1.WebhookCalled.verify|verify} messages.
             * @param message WebhookCalled message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.WebhookCalled.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a WebhookCalled message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.WebhookCalled & intents.v1.WebhookCalled.$Shape} WebhookCalled
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.WebhookCalled & intents.v1.WebhookCalled.$Shape;
        }

        namespace WebhookCalled {

            /** Properties of a WebhookCalled. */
            interface $Properties {

                /** WebhookCalled timestamp */
                timestamp?: (google.protobuf.Timestamp.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a WebhookCalled. */
            type $Shape = intents.v1.WebhookCalled.$Properties;
        }

        /**
         * Properties of a ClientRejectedLogin.
         * @deprecated Use intents.v1.ClientRejectedLogin.$Properties instead.
         */
        interface IClientRejectedLogin extends intents.v1.ClientRejectedLogin.$Properties {
        }

        /** Represents a ClientRejectedLogin. */
        class ClientRejectedLogin {

            /**
             * Constructs a new ClientRejectedLogin.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.ClientRejectedLogin.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ClientRejectedLogin timestamp. */
            timestamp?: (google.protobuf.Timestamp.$Properties|null);

            /**
             * Encodes the specified ClientRejectedLogin message. Does not implicitly {@link intents.v1.ClientRejectedLogin.verify|verify} messages.
             * @param message ClientRejectedLogin message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.ClientRejectedLogin.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ClientRejectedLogin message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.ClientRejectedLogin & intents.v1.ClientRejectedLogin.$Shape} ClientRejectedLogin
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.ClientRejectedLogin & intents.v1.ClientRejectedLogin.$Shape;
        }

        namespace ClientRejectedLogin {

            /** Properties of a ClientRejectedLogin. */
            interface $Properties {

                /** ClientRejectedLogin timestamp */
                timestamp?: (google.protobuf.Timestamp.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ClientRejectedLogin. */
            type $Shape = intents.v1.ClientRejectedLogin.$Properties;
        }

        /**
         * Properties of a RequestToPayBill.
         * @deprecated Use intents.v1.RequestToPayBill.$Properties instead.
         */
        interface IRequestToPayBill extends intents.v1.RequestToPayBill.$Properties {
        }

        /** Represents a RequestToPayBill. */
        class RequestToPayBill {

            /**
             * Constructs a new RequestToPayBill.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.RequestToPayBill.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /**
             * Encodes the specified RequestToPayBill message. Does not implicitly {@link intents.v1.RequestToPayBill.verify|verify} messages.
             * @param message RequestToPayBill message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.RequestToPayBill.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a RequestToPayBill message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.RequestToPayBill & intents.v1.RequestToPayBill.$Shape} RequestToPayBill
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.RequestToPayBill & intents.v1.RequestToPayBill.$Shape;
        }

        namespace RequestToPayBill {

            /** Properties of a RequestToPayBill. */
            interface $Properties {

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a RequestToPayBill. */
            type $Shape = intents.v1.RequestToPayBill.$Properties;
        }

        /**
         * Properties of a RequestToReceiveBill.
         * @deprecated Use intents.v1.RequestToReceiveBill.$Properties instead.
         */
        interface IRequestToReceiveBill extends intents.v1.RequestToReceiveBill.$Properties {
        }

        /** Represents a RequestToReceiveBill. */
        class RequestToReceiveBill {

            /**
             * Constructs a new RequestToReceiveBill.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.RequestToReceiveBill.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** RequestToReceiveBill requestorAccount. */
            requestorAccount?: (intents.v1.ChainAccountId.$Properties|null);

            /** RequestToReceiveBill exact. */
            exact?: (intents.v1.ExchangeData.$Properties|null);

            /** RequestToReceiveBill partial. */
            partial?: (intents.v1.ExchangeDataWithoutRate.$Properties|null);

            /** RequestToReceiveBill domain. */
            domain?: (intents.v1.Domain.$Properties|null);

            /** RequestToReceiveBill verifier. */
            verifier?: (intents.v1.ChainAccountId.$Properties|null);

            /** RequestToReceiveBill signature. */
            signature?: (intents.v1.Signature.$Properties|null);

            /** RequestToReceiveBill rendezvousKey. */
            rendezvousKey?: (intents.v1.RendezvousKey.$Properties|null);

            /** RequestToReceiveBill exchangeData. */
            exchangeData?: ("exact"|"partial");

            /**
             * Encodes the specified RequestToReceiveBill message. Does not implicitly {@link intents.v1.RequestToReceiveBill.verify|verify} messages.
             * @param message RequestToReceiveBill message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.RequestToReceiveBill.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a RequestToReceiveBill message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.RequestToReceiveBill & intents.v1.RequestToReceiveBill.$Shape} RequestToReceiveBill
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.RequestToReceiveBill & intents.v1.RequestToReceiveBill.$Shape;
        }

        namespace RequestToReceiveBill {

            /** Properties of a RequestToReceiveBill. */
            interface $Properties {

                /** RequestToReceiveBill requestorAccount */
                requestorAccount?: (intents.v1.ChainAccountId.$Properties|null);

                /** RequestToReceiveBill exact */
                exact?: (intents.v1.ExchangeData.$Properties|null);

                /** RequestToReceiveBill partial */
                partial?: (intents.v1.ExchangeDataWithoutRate.$Properties|null);

                /** RequestToReceiveBill domain */
                domain?: (intents.v1.Domain.$Properties|null);

                /** RequestToReceiveBill verifier */
                verifier?: (intents.v1.ChainAccountId.$Properties|null);

                /** RequestToReceiveBill signature */
                signature?: (intents.v1.Signature.$Properties|null);

                /** RequestToReceiveBill rendezvousKey */
                rendezvousKey?: (intents.v1.RendezvousKey.$Properties|null);

                /** RequestToReceiveBill exchangeData */
                exchangeData?: ("exact"|"partial");

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Narrowed shape of a RequestToReceiveBill. */
            type $Shape = {
              requestorAccount?: intents.v1.ChainAccountId.$Shape|null;
              exact?: intents.v1.ExchangeData.$Shape|null;
              partial?: intents.v1.ExchangeDataWithoutRate.$Shape|null;
              domain?: intents.v1.Domain.$Shape|null;
              verifier?: intents.v1.ChainAccountId.$Shape|null;
              signature?: intents.v1.Signature.$Shape|null;
              rendezvousKey?: intents.v1.RendezvousKey.$Shape|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ exchangeData?: undefined; exact?: null; partial?: null }|{ exchangeData?: "exact"; exact: intents.v1.ExchangeData.$Shape; partial?: null }|{ exchangeData?: "partial"; exact?: null; partial: intents.v1.ExchangeDataWithoutRate.$Shape })
            );
        }

        /**
         * Properties of an ExchangeData.
         * @deprecated Use intents.v1.ExchangeData.$Properties instead.
         */
        interface IExchangeData extends intents.v1.ExchangeData.$Properties {
        }

        /** Represents an ExchangeData. */
        class ExchangeData {

            /**
             * Constructs a new ExchangeData.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.ExchangeData.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ExchangeData currency. */
            currency: string;

            /** ExchangeData exchangeRate. */
            exchangeRate: number;

            /** ExchangeData nativeAmount. */
            nativeAmount: number;

            /** ExchangeData quarks. */
            quarks: (number|Long);

            /**
             * Encodes the specified ExchangeData message. Does not implicitly {@link intents.v1.ExchangeData.verify|verify} messages.
             * @param message ExchangeData message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.ExchangeData.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an ExchangeData message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.ExchangeData & intents.v1.ExchangeData.$Shape} ExchangeData
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.ExchangeData & intents.v1.ExchangeData.$Shape;
        }

        namespace ExchangeData {

            /** Properties of an ExchangeData. */
            interface $Properties {

                /** ExchangeData currency */
                currency?: (string|null);

                /** ExchangeData exchangeRate */
                exchangeRate?: (number|null);

                /** ExchangeData nativeAmount */
                nativeAmount?: (number|null);

                /** ExchangeData quarks */
                quarks?: (number|Long|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an ExchangeData. */
            type $Shape = intents.v1.ExchangeData.$Properties;
        }

        /**
         * Properties of an ExchangeDataWithoutRate.
         * @deprecated Use intents.v1.ExchangeDataWithoutRate.$Properties instead.
         */
        interface IExchangeDataWithoutRate extends intents.v1.ExchangeDataWithoutRate.$Properties {
        }

        /** Represents an ExchangeDataWithoutRate. */
        class ExchangeDataWithoutRate {

            /**
             * Constructs a new ExchangeDataWithoutRate.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.ExchangeDataWithoutRate.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ExchangeDataWithoutRate currency. */
            currency: string;

            /** ExchangeDataWithoutRate nativeAmount. */
            nativeAmount: number;

            /**
             * Encodes the specified ExchangeDataWithoutRate message. Does not implicitly {@link intents.v1.ExchangeDataWithoutRate.verify|verify} messages.
             * @param message ExchangeDataWithoutRate message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.ExchangeDataWithoutRate.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an ExchangeDataWithoutRate message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.ExchangeDataWithoutRate & intents.v1.ExchangeDataWithoutRate.$Shape} ExchangeDataWithoutRate
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.ExchangeDataWithoutRate & intents.v1.ExchangeDataWithoutRate.$Shape;
        }

        namespace ExchangeDataWithoutRate {

            /** Properties of an ExchangeDataWithoutRate. */
            interface $Properties {

                /** ExchangeDataWithoutRate currency */
                currency?: (string|null);

                /** ExchangeDataWithoutRate nativeAmount */
                nativeAmount?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an ExchangeDataWithoutRate. */
            type $Shape = intents.v1.ExchangeDataWithoutRate.$Properties;
        }

        /**
         * Properties of a RequestToLogin.
         * @deprecated Use intents.v1.RequestToLogin.$Properties instead.
         */
        interface IRequestToLogin extends intents.v1.RequestToLogin.$Properties {
        }

        /** Represents a RequestToLogin. */
        class RequestToLogin {

            /**
             * Constructs a new RequestToLogin.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.RequestToLogin.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** RequestToLogin domain. */
            domain?: (intents.v1.Domain.$Properties|null);

            /** RequestToLogin verifier. */
            verifier?: (intents.v1.ChainAccountId.$Properties|null);

            /** RequestToLogin signature. */
            signature?: (intents.v1.Signature.$Properties|null);

            /** RequestToLogin rendezvousKey. */
            rendezvousKey?: (intents.v1.RendezvousKey.$Properties|null);

            /**
             * Encodes the specified RequestToLogin message. Does not implicitly {@link intents.v1.RequestToLogin.verify|verify} messages.
             * @param message RequestToLogin message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.RequestToLogin.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a RequestToLogin message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.RequestToLogin & intents.v1.RequestToLogin.$Shape} RequestToLogin
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.RequestToLogin & intents.v1.RequestToLogin.$Shape;
        }

        namespace RequestToLogin {

            /** Properties of a RequestToLogin. */
            interface $Properties {

                /** RequestToLogin domain */
                domain?: (intents.v1.Domain.$Properties|null);

                /** RequestToLogin verifier */
                verifier?: (intents.v1.ChainAccountId.$Properties|null);

                /** RequestToLogin signature */
                signature?: (intents.v1.Signature.$Properties|null);

                /** RequestToLogin rendezvousKey */
                rendezvousKey?: (intents.v1.RendezvousKey.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a RequestToLogin. */
            type $Shape = intents.v1.RequestToLogin.$Properties;
        }

        /**
         * Properties of a GetStatusRequest.
         * @deprecated Use intents.v1.GetStatusRequest.$Properties instead.
         */
        interface IGetStatusRequest extends intents.v1.GetStatusRequest.$Properties {
        }

        /** Represents a GetStatusRequest. */
        class GetStatusRequest {

            /**
             * Constructs a new GetStatusRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.GetStatusRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** GetStatusRequest intentId. */
            intentId?: (intents.v1.IntentId.$Properties|null);

            /**
             * Encodes the specified GetStatusRequest message. Does not implicitly {@link intents.v1.GetStatusRequest.verify|verify} messages.
             * @param message GetStatusRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.GetStatusRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a GetStatusRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.GetStatusRequest & intents.v1.GetStatusRequest.$Shape} GetStatusRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.GetStatusRequest & intents.v1.GetStatusRequest.$Shape;
        }

        namespace GetStatusRequest {

            /** Properties of a GetStatusRequest. */
            interface $Properties {

                /** GetStatusRequest intentId */
                intentId?: (intents.v1.IntentId.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a GetStatusRequest. */
            type $Shape = intents.v1.GetStatusRequest.$Properties;
        }

        /**
         * Properties of a GetStatusResponse.
         * @deprecated Use intents.v1.GetStatusResponse.$Properties instead.
         */
        interface IGetStatusResponse extends intents.v1.GetStatusResponse.$Properties {
        }

        /** Represents a GetStatusResponse. */
        class GetStatusResponse {

            /**
             * Constructs a new GetStatusResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.GetStatusResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** GetStatusResponse exists. */
            exists: boolean;

            /** GetStatusResponse codeScanned. */
            codeScanned: boolean;

            /** GetStatusResponse intentSubmitted. */
            intentSubmitted: boolean;

            /**
             * Encodes the specified GetStatusResponse message. Does not implicitly {@link intents.v1.GetStatusResponse.verify|verify} messages.
             * @param message GetStatusResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.GetStatusResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a GetStatusResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.GetStatusResponse & intents.v1.GetStatusResponse.$Shape} GetStatusResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.GetStatusResponse & intents.v1.GetStatusResponse.$Shape;
        }

        namespace GetStatusResponse {

            /** Properties of a GetStatusResponse. */
            interface $Properties {

                /** GetStatusResponse exists */
                exists?: (boolean|null);

                /** GetStatusResponse codeScanned */
                codeScanned?: (boolean|null);

                /** GetStatusResponse intentSubmitted */
                intentSubmitted?: (boolean|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a GetStatusResponse. */
            type $Shape = intents.v1.GetStatusResponse.$Properties;
        }

        /**
         * Properties of a SendMessageRequest.
         * @deprecated Use intents.v1.SendMessageRequest.$Properties instead.
         */
        interface ISendMessageRequest extends intents.v1.SendMessageRequest.$Properties {
        }

        /** Represents a SendMessageRequest. */
        class SendMessageRequest {

            /**
             * Constructs a new SendMessageRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.SendMessageRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** SendMessageRequest message. */
            message?: (intents.v1.Message.$Properties|null);

            /** SendMessageRequest rendezvousKey. */
            rendezvousKey?: (intents.v1.RendezvousKey.$Properties|null);

            /** SendMessageRequest signature. */
            signature?: (intents.v1.Signature.$Properties|null);

            /**
             * Encodes the specified SendMessageRequest message. Does not implicitly {@link intents.v1.SendMessageRequest.verify|verify} messages.
             * @param message SendMessageRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.SendMessageRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a SendMessageRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.SendMessageRequest & intents.v1.SendMessageRequest.$Shape} SendMessageRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.SendMessageRequest & intents.v1.SendMessageRequest.$Shape;
        }

        namespace SendMessageRequest {

            /** Properties of a SendMessageRequest. */
            interface $Properties {

                /** SendMessageRequest message */
                message?: (intents.v1.Message.$Properties|null);

                /** SendMessageRequest rendezvousKey */
                rendezvousKey?: (intents.v1.RendezvousKey.$Properties|null);

                /** SendMessageRequest signature */
                signature?: (intents.v1.Signature.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a SendMessageRequest. */
            type $Shape = {
              message?: intents.v1.Message.$Shape|null;
              rendezvousKey?: intents.v1.RendezvousKey.$Shape|null;
              signature?: intents.v1.Signature.$Shape|null;
              $unknowns?: Uint8Array[];
            };
        }

        /**
         * Properties of a SendMessageResponse.
         * @deprecated Use intents.v1.SendMessageResponse.$Properties instead.
         */
        interface ISendMessageResponse extends intents.v1.SendMessageResponse.$Properties {
        }

        /** Represents a SendMessageResponse. */
        class SendMessageResponse {

            /**
             * Constructs a new SendMessageResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.SendMessageResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** SendMessageResponse result. */
            result: intents.v1.SendMessageResponse.Result;

            /** SendMessageResponse messageId. */
            messageId?: (intents.v1.MessageId.$Properties|null);

            /**
             * Encodes the specified SendMessageResponse message. Does not implicitly {@link intents.v1.SendMessageResponse.verify|verify} messages.
             * @param message SendMessageResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.SendMessageResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a SendMessageResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.SendMessageResponse & intents.v1.SendMessageResponse.$Shape} SendMessageResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.SendMessageResponse & intents.v1.SendMessageResponse.$Shape;
        }

        namespace SendMessageResponse {

            /** Properties of a SendMessageResponse. */
            interface $Properties {

                /** SendMessageResponse result */
                result?: (intents.v1.SendMessageResponse.Result|null);

                /** SendMessageResponse messageId */
                messageId?: (intents.v1.MessageId.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a SendMessageResponse. */
            type $Shape = intents.v1.SendMessageResponse.$Properties;

            /** Result enum. */
            enum Result {

                /** OK value */
                OK = 0,

                /** NO_ACTIVE_STREAM value */
                NO_ACTIVE_STREAM = 1
            }
        }

        /**
         * Properties of an OpenMessageStreamRequest.
         * @deprecated Use intents.v1.OpenMessageStreamRequest.$Properties instead.
         */
        interface IOpenMessageStreamRequest extends intents.v1.OpenMessageStreamRequest.$Properties {
        }

        /** Represents an OpenMessageStreamRequest. */
        class OpenMessageStreamRequest {

            /**
             * Constructs a new OpenMessageStreamRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.OpenMessageStreamRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** OpenMessageStreamRequest rendezvousKey. */
            rendezvousKey?: (intents.v1.RendezvousKey.$Properties|null);

            /** OpenMessageStreamRequest signature. */
            signature?: (intents.v1.Signature.$Properties|null);

            /**
             * Encodes the specified OpenMessageStreamRequest message. Does not implicitly {@link intents.v1.OpenMessageStreamRequest.verify|verify} messages.
             * @param message OpenMessageStreamRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.OpenMessageStreamRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an OpenMessageStreamRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.OpenMessageStreamRequest & intents.v1.OpenMessageStreamRequest.$Shape} OpenMessageStreamRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.OpenMessageStreamRequest & intents.v1.OpenMessageStreamRequest.$Shape;
        }

        namespace OpenMessageStreamRequest {

            /** Properties of an OpenMessageStreamRequest. */
            interface $Properties {

                /** OpenMessageStreamRequest rendezvousKey */
                rendezvousKey?: (intents.v1.RendezvousKey.$Properties|null);

                /** OpenMessageStreamRequest signature */
                signature?: (intents.v1.Signature.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an OpenMessageStreamRequest. */
            type $Shape = intents.v1.OpenMessageStreamRequest.$Properties;
        }

        /**
         * Properties of an OpenMessageStreamResponse.
         * @deprecated Use intents.v1.OpenMessageStreamResponse.$Properties instead.
         */
        interface IOpenMessageStreamResponse extends intents.v1.OpenMessageStreamResponse.$Properties {
        }

        /** Represents an OpenMessageStreamResponse. */
        class OpenMessageStreamResponse {

            /**
             * Constructs a new OpenMessageStreamResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.OpenMessageStreamResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** OpenMessageStreamResponse messages. */
            messages: intents.v1.Message.$Properties[];

            /**
             * Encodes the specified OpenMessageStreamResponse message. Does not implicitly {@link intents.v1.OpenMessageStreamResponse.verify|verify} messages.
             * @param message OpenMessageStreamResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.OpenMessageStreamResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an OpenMessageStreamResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.OpenMessageStreamResponse & intents.v1.OpenMessageStreamResponse.$Shape} OpenMessageStreamResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.OpenMessageStreamResponse & intents.v1.OpenMessageStreamResponse.$Shape;
        }

        namespace OpenMessageStreamResponse {

            /** Properties of an OpenMessageStreamResponse. */
            interface $Properties {

                /** OpenMessageStreamResponse messages */
                messages?: (intents.v1.Message.$Properties[]|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an OpenMessageStreamResponse. */
            type $Shape = {
              messages?: intents.v1.Message.$Shape[]|null;
              $unknowns?: Uint8Array[];
            };
        }

        /**
         * Properties of a PollMessagesRequest.
         * @deprecated Use intents.v1.PollMessagesRequest.$Properties instead.
         */
        interface IPollMessagesRequest extends intents.v1.PollMessagesRequest.$Properties {
        }

        /** Represents a PollMessagesRequest. */
        class PollMessagesRequest {

            /**
             * Constructs a new PollMessagesRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.PollMessagesRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** PollMessagesRequest rendezvousKey. */
            rendezvousKey?: (intents.v1.RendezvousKey.$Properties|null);

            /** PollMessagesRequest signature. */
            signature?: (intents.v1.Signature.$Properties|null);

            /**
             * Encodes the specified PollMessagesRequest message. Does not implicitly {@link intents.v1.PollMessagesRequest.verify|verify} messages.
             * @param message PollMessagesRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.PollMessagesRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a PollMessagesRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.PollMessagesRequest & intents.v1.PollMessagesRequest.$Shape} PollMessagesRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.PollMessagesRequest & intents.v1.PollMessagesRequest.$Shape;
        }

        namespace PollMessagesRequest {

            /** Properties of a PollMessagesRequest. */
            interface $Properties {

                /** PollMessagesRequest rendezvousKey */
                rendezvousKey?: (intents.v1.RendezvousKey.$Properties|null);

                /** PollMessagesRequest signature */
                signature?: (intents.v1.Signature.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a PollMessagesRequest. */
            type $Shape = intents.v1.PollMessagesRequest.$Properties;
        }

        /**
         * Properties of a PollMessagesResponse.
         * @deprecated Use intents.v1.PollMessagesResponse.$Properties instead.
         */
        interface IPollMessagesResponse extends intents.v1.PollMessagesResponse.$Properties {
        }

        /** Represents a PollMessagesResponse. */
        class PollMessagesResponse {

            /**
             * Constructs a new PollMessagesResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.PollMessagesResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** PollMessagesResponse messages. */
            messages: intents.v1.Message.$Properties[];

            /**
             * Encodes the specified PollMessagesResponse message. Does not implicitly {@link intents.v1.PollMessagesResponse.verify|verify} messages.
             * @param message PollMessagesResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.PollMessagesResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a PollMessagesResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.PollMessagesResponse & intents.v1.PollMessagesResponse.$Shape} PollMessagesResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.PollMessagesResponse & intents.v1.PollMessagesResponse.$Shape;
        }

        namespace PollMessagesResponse {

            /** Properties of a PollMessagesResponse. */
            interface $Properties {

                /** PollMessagesResponse messages */
                messages?: (intents.v1.Message.$Properties[]|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a PollMessagesResponse. */
            type $Shape = {
              messages?: intents.v1.Message.$Shape[]|null;
              $unknowns?: Uint8Array[];
            };
        }

        /**
         * Properties of an AckMessagesRequest.
         * @deprecated Use intents.v1.AckMessagesRequest.$Properties instead.
         */
        interface IAckMessagesRequest extends intents.v1.AckMessagesRequest.$Properties {
        }

        /** Represents an AckMessagesRequest. */
        class AckMessagesRequest {

            /**
             * Constructs a new AckMessagesRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.AckMessagesRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** AckMessagesRequest rendezvousKey. */
            rendezvousKey?: (intents.v1.RendezvousKey.$Properties|null);

            /** AckMessagesRequest messageIds. */
            messageIds: intents.v1.MessageId.$Properties[];

            /**
             * Encodes the specified AckMessagesRequest message. Does not implicitly {@link intents.v1.AckMessagesRequest.verify|verify} messages.
             * @param message AckMessagesRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.AckMessagesRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an AckMessagesRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.AckMessagesRequest & intents.v1.AckMessagesRequest.$Shape} AckMessagesRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.AckMessagesRequest & intents.v1.AckMessagesRequest.$Shape;
        }

        namespace AckMessagesRequest {

            /** Properties of an AckMessagesRequest. */
            interface $Properties {

                /** AckMessagesRequest rendezvousKey */
                rendezvousKey?: (intents.v1.RendezvousKey.$Properties|null);

                /** AckMessagesRequest messageIds */
                messageIds?: (intents.v1.MessageId.$Properties[]|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an AckMessagesRequest. */
            type $Shape = intents.v1.AckMessagesRequest.$Properties;
        }

        /**
         * Properties of an AckMessagesResponse.
         * @deprecated Use intents.v1.AckMessagesResponse.$Properties instead.
         */
        interface IAckMessagesResponse extends intents.v1.AckMessagesResponse.$Properties {
        }

        /** Represents an AckMessagesResponse. */
        class AckMessagesResponse {

            /**
             * Constructs a new AckMessagesResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.AckMessagesResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** AckMessagesResponse result. */
            result: intents.v1.AckMessagesResponse.Result;

            /**
             * Encodes the specified AckMessagesResponse message. Does not implicitly {@link intents.v1.AckMessagesResponse.verify|verify} messages.
             * @param message AckMessagesResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.AckMessagesResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an AckMessagesResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.AckMessagesResponse & intents.v1.AckMessagesResponse.$Shape} AckMessagesResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.AckMessagesResponse & intents.v1.AckMessagesResponse.$Shape;
        }

        namespace AckMessagesResponse {

            /** Properties of an AckMessagesResponse. */
            interface $Properties {

                /** AckMessagesResponse result */
                result?: (intents.v1.AckMessagesResponse.Result|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an AckMessagesResponse. */
            type $Shape = intents.v1.AckMessagesResponse.$Properties;

            /** Result enum. */
            enum Result {

                /** OK value */
                OK = 0
            }
        }

        /**
         * Properties of a RegisterWebhookRequest.
         * @deprecated Use intents.v1.RegisterWebhookRequest.$Properties instead.
         */
        interface IRegisterWebhookRequest extends intents.v1.RegisterWebhookRequest.$Properties {
        }

        /** Represents a RegisterWebhookRequest. */
        class RegisterWebhookRequest {

            /**
             * Constructs a new RegisterWebhookRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.RegisterWebhookRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** RegisterWebhookRequest intentId. */
            intentId?: (intents.v1.IntentId.$Properties|null);

            /** RegisterWebhookRequest url. */
            url: string;

            /**
             * Encodes the specified RegisterWebhookRequest message. Does not implicitly {@link intents.v1.RegisterWebhookRequest.verify|verify} messages.
             * @param message RegisterWebhookRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.RegisterWebhookRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a RegisterWebhookRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.RegisterWebhookRequest & intents.v1.RegisterWebhookRequest.$Shape} RegisterWebhookRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.RegisterWebhookRequest & intents.v1.RegisterWebhookRequest.$Shape;
        }

        namespace RegisterWebhookRequest {

            /** Properties of a RegisterWebhookRequest. */
            interface $Properties {

                /** RegisterWebhookRequest intentId */
                intentId?: (intents.v1.IntentId.$Properties|null);

                /** RegisterWebhookRequest url */
                url?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a RegisterWebhookRequest. */
            type $Shape = intents.v1.RegisterWebhookRequest.$Properties;
        }

        /**
         * Properties of a RegisterWebhookResponse.
         * @deprecated Use intents.v1.RegisterWebhookResponse.$Properties instead.
         */
        interface IRegisterWebhookResponse extends intents.v1.RegisterWebhookResponse.$Properties {
        }

        /** Represents a RegisterWebhookResponse. */
        class RegisterWebhookResponse {

            /**
             * Constructs a new RegisterWebhookResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.RegisterWebhookResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** RegisterWebhookResponse result. */
            result: intents.v1.RegisterWebhookResponse.Result;

            /**
             * Encodes the specified RegisterWebhookResponse message. Does not implicitly {@link intents.v1.RegisterWebhookResponse.verify|verify} messages.
             * @param message RegisterWebhookResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.RegisterWebhookResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a RegisterWebhookResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.RegisterWebhookResponse & intents.v1.RegisterWebhookResponse.$Shape} RegisterWebhookResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.RegisterWebhookResponse & intents.v1.RegisterWebhookResponse.$Shape;
        }

        namespace RegisterWebhookResponse {

            /** Properties of a RegisterWebhookResponse. */
            interface $Properties {

                /** RegisterWebhookResponse result */
                result?: (intents.v1.RegisterWebhookResponse.Result|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a RegisterWebhookResponse. */
            type $Shape = intents.v1.RegisterWebhookResponse.$Properties;

            /** Result enum. */
            enum Result {

                /** OK value */
                OK = 0,

                /** ALREADY_REGISTERED value */
                ALREADY_REGISTERED = 1,

                /** REQUEST_NOT_FOUND value */
                REQUEST_NOT_FOUND = 2,

                /** INTENT_EXISTS value */
                INTENT_EXISTS = 3,

                /** INVALID_URL value */
                INVALID_URL = 4
            }
        }

        /**
         * Properties of a GetLoginForThirdPartyAppRequest.
         * @deprecated Use intents.v1.GetLoginForThirdPartyAppRequest.$Properties instead.
         */
        interface IGetLoginForThirdPartyAppRequest extends intents.v1.GetLoginForThirdPartyAppRequest.$Properties {
        }

        /** Represents a GetLoginForThirdPartyAppRequest. */
        class GetLoginForThirdPartyAppRequest {

            /**
             * Constructs a new GetLoginForThirdPartyAppRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.GetLoginForThirdPartyAppRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** GetLoginForThirdPartyAppRequest intentId. */
            intentId?: (intents.v1.IntentId.$Properties|null);

            /** GetLoginForThirdPartyAppRequest verifier. */
            verifier?: (intents.v1.ChainAccountId.$Properties|null);

            /** GetLoginForThirdPartyAppRequest signature. */
            signature?: (intents.v1.Signature.$Properties|null);

            /**
             * Encodes the specified GetLoginForThirdPartyAppRequest message. Does not implicitly {@link intents.v1.GetLoginForThirdPartyAppRequest.verify|verify} messages.
             * @param message GetLoginForThirdPartyAppRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.GetLoginForThirdPartyAppRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a GetLoginForThirdPartyAppRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.GetLoginForThirdPartyAppRequest & intents.v1.GetLoginForThirdPartyAppRequest.$Shape} GetLoginForThirdPartyAppRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.GetLoginForThirdPartyAppRequest & intents.v1.GetLoginForThirdPartyAppRequest.$Shape;
        }

        namespace GetLoginForThirdPartyAppRequest {

            /** Properties of a GetLoginForThirdPartyAppRequest. */
            interface $Properties {

                /** GetLoginForThirdPartyAppRequest intentId */
                intentId?: (intents.v1.IntentId.$Properties|null);

                /** GetLoginForThirdPartyAppRequest verifier */
                verifier?: (intents.v1.ChainAccountId.$Properties|null);

                /** GetLoginForThirdPartyAppRequest signature */
                signature?: (intents.v1.Signature.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a GetLoginForThirdPartyAppRequest. */
            type $Shape = intents.v1.GetLoginForThirdPartyAppRequest.$Properties;
        }

        /**
         * Properties of a GetLoginForThirdPartyAppResponse.
         * @deprecated Use intents.v1.GetLoginForThirdPartyAppResponse.$Properties instead.
         */
        interface IGetLoginForThirdPartyAppResponse extends intents.v1.GetLoginForThirdPartyAppResponse.$Properties {
        }

        /** Represents a GetLoginForThirdPartyAppResponse. */
        class GetLoginForThirdPartyAppResponse {

            /**
             * Constructs a new GetLoginForThirdPartyAppResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.GetLoginForThirdPartyAppResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** GetLoginForThirdPartyAppResponse result. */
            result: intents.v1.GetLoginForThirdPartyAppResponse.Result;

            /** GetLoginForThirdPartyAppResponse userId. */
            userId?: (intents.v1.ChainAccountId.$Properties|null);

            /**
             * Encodes the specified GetLoginForThirdPartyAppResponse message. Does not implicitly {@link intents.v1.GetLoginForThirdPartyAppResponse.verify|verify} messages.
             * @param message GetLoginForThirdPartyAppResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.GetLoginForThirdPartyAppResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a GetLoginForThirdPartyAppResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.GetLoginForThirdPartyAppResponse & intents.v1.GetLoginForThirdPartyAppResponse.$Shape} GetLoginForThirdPartyAppResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.GetLoginForThirdPartyAppResponse & intents.v1.GetLoginForThirdPartyAppResponse.$Shape;
        }

        namespace GetLoginForThirdPartyAppResponse {

            /** Properties of a GetLoginForThirdPartyAppResponse. */
            interface $Properties {

                /** GetLoginForThirdPartyAppResponse result */
                result?: (intents.v1.GetLoginForThirdPartyAppResponse.Result|null);

                /** GetLoginForThirdPartyAppResponse userId */
                userId?: (intents.v1.ChainAccountId.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a GetLoginForThirdPartyAppResponse. */
            type $Shape = intents.v1.GetLoginForThirdPartyAppResponse.$Properties;

            /** Result enum. */
            enum Result {

                /** OK value */
                OK = 0,

                /** REQUEST_NOT_FOUND value */
                REQUEST_NOT_FOUND = 1,

                /** LOGIN_NOT_SUPPORTED value */
                LOGIN_NOT_SUPPORTED = 2,

                /** NO_USER_LOGGED_IN value */
                NO_USER_LOGGED_IN = 3
            }
        }

        /**
         * Properties of a LoginToThirdPartyAppRequest.
         * @deprecated Use intents.v1.LoginToThirdPartyAppRequest.$Properties instead.
         */
        interface ILoginToThirdPartyAppRequest extends intents.v1.LoginToThirdPartyAppRequest.$Properties {
        }

        /** Represents a LoginToThirdPartyAppRequest. */
        class LoginToThirdPartyAppRequest {

            /**
             * Constructs a new LoginToThirdPartyAppRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.LoginToThirdPartyAppRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** LoginToThirdPartyAppRequest intentId. */
            intentId?: (intents.v1.IntentId.$Properties|null);

            /** LoginToThirdPartyAppRequest userId. */
            userId?: (intents.v1.ChainAccountId.$Properties|null);

            /** LoginToThirdPartyAppRequest signature. */
            signature?: (intents.v1.Signature.$Properties|null);

            /**
             * Encodes the specified LoginToThirdPartyAppRequest message. Does not implicitly {@link intents.v1.LoginToThirdPartyAppRequest.verify|verify} messages.
             * @param message LoginToThirdPartyAppRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.LoginToThirdPartyAppRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a LoginToThirdPartyAppRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.LoginToThirdPartyAppRequest & intents.v1.LoginToThirdPartyAppRequest.$Shape} LoginToThirdPartyAppRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.LoginToThirdPartyAppRequest & intents.v1.LoginToThirdPartyAppRequest.$Shape;
        }

        namespace LoginToThirdPartyAppRequest {

            /** Properties of a LoginToThirdPartyAppRequest. */
            interface $Properties {

                /** LoginToThirdPartyAppRequest intentId */
                intentId?: (intents.v1.IntentId.$Properties|null);

                /** LoginToThirdPartyAppRequest userId */
                userId?: (intents.v1.ChainAccountId.$Properties|null);

                /** LoginToThirdPartyAppRequest signature */
                signature?: (intents.v1.Signature.$Properties|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a LoginToThirdPartyAppRequest. */
            type $Shape = intents.v1.LoginToThirdPartyAppRequest.$Properties;
        }

        /**
         * Properties of a LoginToThirdPartyAppResponse.
         * @deprecated Use intents.v1.LoginToThirdPartyAppResponse.$Properties instead.
         */
        interface ILoginToThirdPartyAppResponse extends intents.v1.LoginToThirdPartyAppResponse.$Properties {
        }

        /** Represents a LoginToThirdPartyAppResponse. */
        class LoginToThirdPartyAppResponse {

            /**
             * Constructs a new LoginToThirdPartyAppResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: intents.v1.LoginToThirdPartyAppResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** LoginToThirdPartyAppResponse result. */
            result: intents.v1.LoginToThirdPartyAppResponse.Result;

            /**
             * Encodes the specified LoginToThirdPartyAppResponse message. Does not implicitly {@link intents.v1.LoginToThirdPartyAppResponse.verify|verify} messages.
             * @param message LoginToThirdPartyAppResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: intents.v1.LoginToThirdPartyAppResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a LoginToThirdPartyAppResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {intents.v1.LoginToThirdPartyAppResponse & intents.v1.LoginToThirdPartyAppResponse.$Shape} LoginToThirdPartyAppResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.v1.LoginToThirdPartyAppResponse & intents.v1.LoginToThirdPartyAppResponse.$Shape;
        }

        namespace LoginToThirdPartyAppResponse {

            /** Properties of a LoginToThirdPartyAppResponse. */
            interface $Properties {

                /** LoginToThirdPartyAppResponse result */
                result?: (intents.v1.LoginToThirdPartyAppResponse.Result|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a LoginToThirdPartyAppResponse. */
            type $Shape = intents.v1.LoginToThirdPartyAppResponse.$Properties;

            /** Result enum. */
            enum Result {

                /** OK value */
                OK = 0,

                /** REQUEST_NOT_FOUND value */
                REQUEST_NOT_FOUND = 1,

                /** PAYMENT_REQUIRED value */
                PAYMENT_REQUIRED = 2,

                /** LOGIN_NOT_SUPPORTED value */
                LOGIN_NOT_SUPPORTED = 3,

                /** DIFFERENT_LOGIN_EXISTS value */
                DIFFERENT_LOGIN_EXISTS = 4,

                /** INVALID_ACCOUNT value */
                INVALID_ACCOUNT = 5
            }
        }
    }
}

/** Namespace google. */
export namespace google {

    /** Namespace protobuf. */
    namespace protobuf {

        /**
         * Properties of a Timestamp.
         * @deprecated Use google.protobuf.Timestamp.$Properties instead.
         */
        interface ITimestamp extends google.protobuf.Timestamp.$Properties {
        }

        /** Represents a Timestamp. */
        class Timestamp {

            /**
             * Constructs a new Timestamp.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.Timestamp.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Timestamp seconds. */
            seconds: (number|Long);

            /** Timestamp nanos. */
            nanos: number;

            /**
             * Encodes the specified Timestamp message. Does not implicitly {@link google.protobuf.Timestamp.verify|verify} messages.
             * @param message Timestamp message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.Timestamp.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Timestamp message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.Timestamp & google.protobuf.Timestamp.$Shape} Timestamp
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.Timestamp & google.protobuf.Timestamp.$Shape;
        }

        namespace Timestamp {

            /** Properties of a Timestamp. */
            interface $Properties {

                /** Timestamp seconds */
                seconds?: (number|Long|null);

                /** Timestamp nanos */
                nanos?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a Timestamp. */
            type $Shape = google.protobuf.Timestamp.$Properties;
        }
    }
}
