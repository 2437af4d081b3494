import { type Hex, slice, toFunctionSelector } from "viem";
import { seaport } from "../../../abis/deployments.ts";
import { seaportFunctions } from "../../../abis/seaport.ts";
import { orderParameters } from "../../../projections/domain/seaport/fill.ts";
import type { CallOutcome, ChainCall } from "./calls/chain-call.ts";
import type { QueryByKind } from "./chain-query.ts";
import { encodeCall } from "./encode-call.ts";
import { counterCodec } from "./exchange-queries.ts";
import { orderErrors } from "./probe-abis.ts";
import { type QueryCodec, wordOf } from "./query-codec.ts";

/** Contract wallets may need much gas to verify a signature. */
const gas = 5_000_000n;

/**
 * Whether the exchange accepts a signature of any form, by a static call of `validate`. It hashes the order with the
 * maker's current counter, so the result is unknown for an order with another counter.
 */
export const signatureCodec: QueryCodec<"signature_read"> = {
  encode: (query, basis) => [
    validateCall(query),
    ...counterCodec.encode({ kind: "counter_read", maker: query.maker }, basis),
  ],
  decode(query, lookUp, basis) {
    const { kind, orderHash, maker, order } = query;
    const read = counterCodec.decode({ kind: "counter_read", maker }, lookUp, basis);
    if (read?.counter !== order.components.counter) return undefined;
    const valid = isAccepted(lookUp(validateCall(query)));
    return valid === undefined ? undefined : { kind, orderHash, maker, valid };
  },
};

function validateCall({ orderHash, maker, order }: QueryByKind["signature_read"]): ChainCall {
  return {
    to: seaport["1.6"],
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

const selectorsOf = (errors: typeof orderErrors): Hex[] =>
  errors.map(({ name, inputs }) =>
    toFunctionSelector(`${name}(${inputs.map(({ type }) => type).join(",")})`),
  );
const orderErrorSelectors = selectorsOf(orderErrors);

function isAccepted(outcome: CallOutcome): boolean | undefined {
  if (outcome === undefined) return undefined;
  if ("returned" in outcome) return wordOf(outcome) === 1n ? true : undefined;
  const selector = outcome.reverted.slice(0, 10);
  // Without revert data the reason is unknown.
  if (selector.length < 10) return undefined;
  // Any error that is not Seaport's about the order means that the signature was refused.
  return orderErrorSelectors.some((known) => known === selector) ? undefined : false;
}
