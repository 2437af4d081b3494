import { type Hex, slice, toFunctionSelector } from "viem";
import { seaport } from "../../../abis/deployments.ts";
import { seaportFunctions } from "../../../abis/seaport.ts";
import { orderParameters } from "../../../projections/domain/seaport/fill.ts";
import { orderErrors } from "./probe-abis.ts";
import type { CallOutcome, ChainCall } from "./call-batch.ts";
import { encodeCall } from "./encode-call.ts";
import { counterReader } from "./exchange-queries.ts";
import type { Questions } from "./chain-query.ts";
import { type Reader, wordOf } from "./query-kind.ts";

/** A wallet may verify its signatures in a costly way. */
const gas = 5_000_000n;

/**
 * Whether the exchange takes a signature for the maker's, whatever its form: asked by `validate`, which is not sent.
 * It hashes the order with the maker's counter of now, so it decides nothing about an order with another one.
 */
export const signatureReader: Reader<"signature_read"> = {
  calls: (question, basis) => [
    validateCall(question),
    ...counterReader.calls({ kind: "counter_read", maker: question.maker }, basis),
  ],
  read(question, lookUp, basis) {
    const { kind, orderHash, maker, order } = question;
    const read = counterReader.read({ kind: "counter_read", maker }, lookUp, basis);
    if (read?.counter !== order.components.counter) return undefined;
    const valid = isTaken(lookUp(validateCall(question)));
    return valid === undefined ? undefined : { kind, orderHash, maker, valid };
  },
};

function validateCall({ orderHash, order }: Questions["signature_read"]): ChainCall {
  return {
    to: seaport["1.6"],
    // The exchange asks the maker himself for no signature; nobody can be at an address made of his own order's hash.
    from: slice(orderHash, 12),
    data: encodeCall({
      abi: seaportFunctions,
      functionName: "validate",
      args: [[{ parameters: orderParameters(order.components), signature: order.signature }]],
    }),
    gas,
  };
}

const selectorsOf = (errors: typeof orderErrors): Hex[] =>
  errors.map(({ name, inputs }) =>
    toFunctionSelector(`${name}(${inputs.map(({ type }) => type).join(",")})`),
  );
const ofTheOrder = selectorsOf(orderErrors);

function isTaken(outcome: CallOutcome): boolean | undefined {
  if (outcome === undefined) return undefined;
  if ("returned" in outcome) return wordOf(outcome) === 1n ? true : undefined;
  const selector = outcome.refused.slice(0, 10);
  // A node that tells no reason may mean any.
  if (selector.length < 10) return undefined;
  // What is none of the exchange's own words about the order are the wallet's, which refused so.
  return ofTheOrder.some((known) => known === selector) ? undefined : false;
}
