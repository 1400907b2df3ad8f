import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

/** Namespace intents. */
export namespace intents {

    /** Namespace simulator. */
    namespace simulator {

        /** Namespace v1. */
        namespace v1 {

            /**
             * Properties of a SubmitPaymentRequest.
             * @deprecated Use intents.simulator.v1.SubmitPaymentRequest.$Properties instead.
             */
            interface ISubmitPaymentRequest extends intents.simulator.v1.SubmitPaymentRequest.$Properties {
            }

            /** Represents a SubmitPaymentRequest. */
            class SubmitPaymentRequest {

                /**
                 * Constructs a new SubmitPaymentRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: intents.simulator.v1.SubmitPaymentRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** SubmitPaymentRequest intentId. */
                intentId?: (intents.v1.IntentId.$Properties|null);

                /** SubmitPaymentRequest payer. */
                payer?: (intents.v1.ChainAccountId.$Properties|null);

                /** SubmitPaymentRequest signature. */
                signature?: (intents.v1.Signature.$Properties|null);

                /**
                 * Encodes the specified SubmitPaymentRequest message. Does not implicitly {@link intents.simulator.v1.SubmitPaymentRequest.verify|verify} messages.
                 * @param message SubmitPaymentRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: intents.simulator.v1.SubmitPaymentRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a SubmitPaymentRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {intents.simulator.v1.SubmitPaymentRequest & intents.simulator.v1.SubmitPaymentRequest.$Shape} SubmitPaymentRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.simulator.v1.SubmitPaymentRequest & intents.simulator.v1.SubmitPaymentRequest.$Shape;
            }

            namespace SubmitPaymentRequest {

                /** Properties of a SubmitPaymentRequest. */
                interface $Properties {

                    /** SubmitPaymentRequest intentId */
                    intentId?: (intents.v1.IntentId.$Properties|null);

                    /** SubmitPaymentRequest payer */
                    payer?: (intents.v1.ChainAccountId.$Properties|null);

                    /** SubmitPaymentRequest signature */
                    signature?: (intents.v1.Signature.$Properties|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a SubmitPaymentRequest. */
                type $Shape = intents.simulator.v1.SubmitPaymentRequest.$Properties;
            }

            /**
             * Properties of a SubmitPaymentResponse.
             * @deprecated Use intents.simulator.v1.SubmitPaymentResponse.$Properties instead.
             */
            interface ISubmitPaymentResponse extends intents.simulator.v1.SubmitPaymentResponse.$Properties {
            }

            /** Represents a SubmitPaymentResponse. */
            class SubmitPaymentResponse {

                /**
                 * Constructs a new SubmitPaymentResponse.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: intents.simulator.v1.SubmitPaymentResponse.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** SubmitPaymentResponse result. */
                result: intents.simulator.v1.SubmitPaymentResponse.Result;

                /**
                 * Encodes the specified SubmitPaymentResponse message. Does not implicitly {@link intents.simulator.v1.SubmitPaymentResponse.verify|verify} messages.
                 * @param message SubmitPaymentResponse message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: intents.simulator.v1.SubmitPaymentResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a SubmitPaymentResponse message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {intents.simulator.v1.SubmitPaymentResponse & intents.simulator.v1.SubmitPaymentResponse.$Shape} SubmitPaymentResponse
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.simulator.v1.SubmitPaymentResponse & intents.simulator.v1.SubmitPaymentResponse.$Shape;
            }

            namespace SubmitPaymentResponse {

                /** Properties of a SubmitPaymentResponse. */
                interface $Properties {

                    /** SubmitPaymentResponse result */
                    result?: (intents.simulator.v1.SubmitPaymentResponse.Result|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a SubmitPaymentResponse. */
                type $Shape = intents.simulator.v1.SubmitPaymentResponse.$Properties;

                /** Result enum. */
                enum Result {

                    /** OK value */
                    OK = 0,

                    /** REQUEST_NOT_FOUND value */
                    REQUEST_NOT_FOUND = 1,

                    /** ALREADY_PAID value */
                    ALREADY_PAID = 2
                }
            }

            /**
             * Properties of a HealthCheckRequest.
             * @deprecated Use intents.simulator.v1.HealthCheckRequest.$Properties instead.
             */
            interface IHealthCheckRequest extends intents.simulator.v1.HealthCheckRequest.$Properties {
            }

            /** Represents a HealthCheckRequest. */
            class HealthCheckRequest {

                /**
                 * Constructs a new HealthCheckRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: intents.simulator.v1.HealthCheckRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** HealthCheckRequest service. */
                service: string;

                /**
                 * Encodes the specified HealthCheckRequest message. Does not implicitly {@link intents.simulator.v1.HealthCheckRequest.verify|verify} messages.
                 * @param message HealthCheckRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: intents.simulator.v1.HealthCheckRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a HealthCheckRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {intents.simulator.v1.HealthCheckRequest & intents.simulator.v1.HealthCheckRequest.$Shape} HealthCheckRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.simulator.v1.HealthCheckRequest & intents.simulator.v1.HealthCheckRequest.$Shape;
            }

            namespace HealthCheckRequest {

                /** Properties of a HealthCheckRequest. */
                interface $Properties {

                    /** HealthCheckRequest service */
                    service?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a HealthCheckRequest. */
                type $Shape = intents.simulator.v1.HealthCheckRequest.$Properties;
            }

            /**
             * Properties of a HealthCheckResponse.
             * @deprecated Use intents.simulator.v1.HealthCheckResponse.$Properties instead.
             */
            interface IHealthCheckResponse extends intents.simulator.v1.HealthCheckResponse.$Properties {
            }

            /** Represents a HealthCheckResponse. */
            class HealthCheckResponse {

                /**
                 * Constructs a new HealthCheckResponse.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: intents.simulator.v1.HealthCheckResponse.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** HealthCheckResponse status. */
                status: intents.simulator.v1.HealthCheckResponse.ServingStatus;

                /**
                 * Encodes the specified HealthCheckResponse message. Does not implicitly {@link intents.simulator.v1.HealthCheckResponse.verify|verify} messages.
                 * @param message HealthCheckResponse message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: intents.simulator.v1.HealthCheckResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a HealthCheckResponse message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {intents.simulator.v1.HealthCheckResponse & intents.simulator.v1.HealthCheckResponse.$Shape} HealthCheckResponse
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): intents.simulator.v1.HealthCheckResponse & intents.simulator.v1.HealthCheckResponse.$Shape;
            }

            namespace HealthCheckResponse {

                /** Properties of a HealthCheckResponse. */
                interface $Properties {

                    /** HealthCheckResponse status */
                    status?: (intents.simulator.v1.HealthCheckResponse.ServingStatus|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a HealthCheckResponse. */
                type $Shape = intents.simulator.v1.HealthCheckResponse.$Properties;

                /** ServingStatus enum. */
                enum ServingStatus {

                    /** UNKNOWN value */
                    UNKNOWN = 0,

                    /** SERVING value */
                    SERVING = 1,

                    /** NOT_SERVING value */
                    NOT_SERVING = 2,

                    /** SERVICE_UNKNOWN value */
                    SERVICE_UNKNOWN = 3
                }
            }
        }
    }

    /** Namespace v1. */
    namespace v1 {

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
    }
}
