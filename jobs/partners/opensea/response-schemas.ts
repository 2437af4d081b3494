import type { Address, Hex } from "viem";
import { z } from "zod";
import { bytes32, signedAddress, signedBytes, signedUint256 } from "../order-schema.ts";
import { orderComponents, partnerOrderParameters, signatureOrNone } from "../send-request.ts";

/** The fields used of OpenSea's API v2 responses; others may change freely. */

/** `GET /api/v2/chain/{chain}/contract/{address}`. */
export const ContractResponse = z.object({ collection: z.string().nullish() });

/** Other chains' addresses may have another format; they are filtered by chain. */
const contractAddress = z.string().transform((text) => text.toLowerCase() as Address);

/** `GET /api/v2/collections/{slug}`. Fees are percents. */
export const CollectionResponse = z.object({
  collection: z.string().min(1),
  contracts: z.array(z.object({ address: contractAddress, chain: z.string() })),
  fees: z.array(
    z.object({ fee: z.number().min(0).max(100), recipient: signedAddress, required: z.boolean() }),
  ),
});

const cursor = z
  .string()
  .nullish()
  .transform((text) => text || null);

/** `GET /api/v2/listings/collection/{slug}/all`. */
export const ListingsResponse = z.object({ listings: z.array(z.unknown()), next: cursor });

/** `GET /api/v2/orders/{chain}/seaport/listings`. */
export const OrdersResponse = z.object({ orders: z.array(z.unknown()), next: cursor });

/** `GET /api/v2/orders/chain/{chain}/protocol/{protocol_address}/{order_hash}`. */
export const OrderResponse = z.object({ order: z.unknown() });

/** A listing, in the format of the newer or the older endpoints. */
export const ListingEntry = z.object({
  order_hash: bytes32,
  chain: z.string().optional(),
  protocol_address: signedAddress,
  protocol_data: z.object({ parameters: orderComponents, signature: signatureOrNone }),
  status: z.string().nullish(),
  cancelled: z.boolean().nullish(),
  finalized: z.boolean().nullish(),
  marked_invalid: z.boolean().nullish(),
});

/** `POST /api/v2/orders/{chain}/seaport/listings`: the order, plain or wrapped. */
export const PostedResponse = z
  .union([
    z.object({ order_hash: bytes32 }),
    z.object({ order: z.object({ order_hash: bytes32 }) }).transform(({ order }) => order),
  ])
  .transform(({ order_hash }) => order_hash);

/** Error response of any endpoint. */
export const ErrorsResponse = z.object({ errors: z.array(z.string()) });

const basicParameters = z.object({
  considerationToken: signedAddress,
  considerationIdentifier: signedUint256,
  considerationAmount: signedUint256,
  offerer: signedAddress,
  zone: signedAddress,
  offerToken: signedAddress,
  offerIdentifier: signedUint256,
  offerAmount: signedUint256,
  basicOrderType: signedUint256.transform(Number),
  startTime: signedUint256,
  endTime: signedUint256,
  zoneHash: bytes32,
  salt: signedUint256,
  offererConduitKey: bytes32,
  fulfillerConduitKey: bytes32,
  totalOriginalAdditionalRecipients: signedUint256,
  additionalRecipients: z
    .array(z.object({ amount: signedUint256, recipient: signedAddress }))
    .max(50),
  signature: signedBytes,
});

const plainOrder = z.object({
  parameters: partnerOrderParameters.extend({ totalOriginalConsiderationItems: signedUint256 }),
  signature: signedBytes,
});

const advancedOrder = plainOrder.extend({
  numerator: signedUint256,
  denominator: signedUint256,
  extraData: signedBytes,
});

export type BasicParameters = z.output<typeof basicParameters>;
export type ProposedAdvancedOrder = z.output<typeof advancedOrder>;

const fulfillerConduitKey = bytes32;
const readable = ["advancedOrder", "order", "parameters"];

/** Arguments of a proposed call: one order, or something unsupported. */
const callInput = z.union([
  z.object({ advancedOrder, fulfillerConduitKey }).transform((input) => ({
    kind: "advanced" as const,
    ...input,
  })),
  z.object({ order: plainOrder, fulfillerConduitKey }).transform((input) => ({
    kind: "plain" as const,
    ...input,
  })),
  z.object({ parameters: basicParameters }).transform(({ parameters }) => ({
    kind: "basic" as const,
    parameters,
  })),
  z
    .record(z.string(), z.unknown())
    .refine((input) => !readable.some((name) => name in input))
    .transform(() => ({ kind: "other" as const })),
]);

/** `POST /api/v2/listings/fulfillment_data`. */
export const FulfillmentResponse = z.object({
  fulfillment_data: z.object({
    transaction: z.object({
      function: z.string(),
      chain: z.int(),
      to: signedAddress,
      value: signedUint256,
      input_data: callInput,
    }),
  }),
});

/** The hash of an entry that does not parse otherwise. */
export function statedHash(entry: unknown): Hex | null {
  return z.object({ order_hash: bytes32 }).safeParse(entry).data?.order_hash ?? null;
}
