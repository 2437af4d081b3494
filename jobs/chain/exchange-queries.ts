import { slice } from "viem";
import { commonConduit, conduitController, seaportAddresses } from "#abis/deployments.ts";
import { conduitAbi, seaportFunctions } from "#abis/seaport.ts";
import { orderParameters } from "#projections/domain/seaport/fill.ts";
import {
  type QueryByKind,
  type QueryCodec,
  type ResultByKind,
  singleCallCodec,
  wordOf,
} from "./chain-query.ts";
import { type ChainCall, type ChainCallOutcome, encodeCall } from "./contract-calls.ts";

const exchange = seaportAddresses["1.6"];

export const orderStatusCodec = singleCallCodec<"order_status_read">(
  ({ orderHash }) => ({
    to: exchange,
    data: encodeCall({
      abi: seaportFunctions,
      functionName: "getOrderStatus",
      args: [orderHash],
    }),
  }),
  (query, outcome) => {
    const [validated, cancelled, filled, size] = [0, 1, 2, 3].map((index) =>
      wordOf(outcome, index),
    );
    if (cancelled === undefined || filled === undefined || size === undefined) return undefined;
    return { ...query, validated: validated === 1n, cancelled: cancelled === 1n, filled, size };
  },
);

export const counterCodec = singleCallCodec<"counter_read">(
  ({ maker }) => ({
    to: exchange,
    data: encodeCall({
      abi: seaportFunctions,
      functionName: "getCounter",
      args: [maker],
    }),
  }),
  (query, outcome) => {
    const counter = wordOf(outcome);
    return counter === undefined ? undefined : { ...query, counter };
  },
);

/** The conduit controller reverts for a conduit that does not exist. */
export const channelCodec = singleCallCodec<"channel_read">(
  () => ({
    to: conduitController,
    data: encodeCall({
      abi: conduitAbi,
      functionName: "getChannelStatus",
      args: [commonConduit.address, exchange],
    }),
  }),
  (query, outcome) => {
    if ("reverted" in outcome) return { ...query, open: false };
    const open = wordOf(outcome);
    return open === undefined ? undefined : { ...query, open: open === 1n };
  },
);

/** Contract wallets may need much gas to verify a signature. */
const gas = 5_000_000n;

/**
 * Whether the exchange accepts a signature of any form, by a static call of `validate`. It hashes the order with the
 * maker's current counter, and rejects an ended order before it verifies the signature: of an order with another counter
 * and of an ended one the result is unknown. Of any other order a revert means that the signature was refused, whatever
 * its data: the exchange passes on what the maker's contract reverts with, which may imitate the exchange's own errors.
 */
export const signatureCodec: QueryCodec<"signature_read"> = {
  encode: (query, basis) => [
    validateCall(query),
    ...counterCodec.encode(counterOf(query), basis),
    ...orderStatusCodec.encode(statusOf(query), basis),
  ],
  decode(query, lookUp, basis) {
    const { kind, orderHash, maker, order } = query;
    const read = counterCodec.decode(counterOf(query), lookUp, basis);
    const status = orderStatusCodec.decode(statusOf(query), lookUp, basis);
    if (read?.counter !== order.components.counter) return undefined;
    if (status === undefined || hasEnded(status)) return undefined;
    const valid = isAccepted(lookUp(validateCall(query)));
    return valid === undefined ? undefined : { kind, orderHash, maker, valid };
  },
};

const counterOf = ({ maker }: QueryByKind["signature_read"]) =>
  ({ kind: "counter_read", maker }) as const;
const statusOf = ({ orderHash }: QueryByKind["signature_read"]) =>
  ({ kind: "order_status_read", orderHash }) as const;

/** Cancelled or filled whole: Seaport `_verifyOrderStatus`. */
const hasEnded = ({ cancelled, filled, size }: ResultByKind["order_status_read"]) =>
  cancelled || (filled > 0n && filled >= size);

function validateCall({ orderHash, maker, order }: QueryByKind["signature_read"]): ChainCall {
  return {
    to: seaportAddresses["1.6"],
    // Seaport skips the signature check when the maker calls; an address derived from the order's hash is nobody's.
    from: slice(orderHash, 12),
    data: encodeCall({
      abi: seaportFunctions,
      functionName: "validate",
      args: [[{ parameters: orderParameters(order.components), signature: order.signature }]],
    }),
    gas,
    payer: maker,
  };
}

function isAccepted(outcome: ChainCallOutcome): boolean | undefined {
  if (outcome === undefined) return undefined;
  if ("returned" in outcome) return wordOf(outcome) === 1n ? true : undefined;
  // Reverts have data, as the exchange gives its own reason where a contract gives none: without, the node gave up.
  return outcome.reverted === "0x" && outcome.isTooLarge !== true ? undefined : false;
}
