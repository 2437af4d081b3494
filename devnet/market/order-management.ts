import { encodeFunctionData } from "viem";
import { seaport } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { orderParameters } from "#projections/domain/seaport/fill.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import type { Signer } from "./signer.ts";

/** Transactions that makers send to the exchange about their own orders. */
export function orderManagement(signer: Signer) {
  const exchange = seaport["1.6"];
  return {
    cancels: (...orders: SignedOrder[]) =>
      signer.transact({
        to: exchange,
        data: encodeFunctionData({
          abi: seaportFunctions,
          functionName: "cancel",
          args: [orders.map(({ components }) => components)],
        }),
      }),

    /** Cancels every order signed so far. */
    incrementsCounter: () =>
      signer.transact({
        to: exchange,
        data: encodeFunctionData({ abi: seaportFunctions, functionName: "incrementCounter" }),
      }),

    /** Stores the signature's validity on chain before the fill. */
    validates: ({ components, signature }: SignedOrder) =>
      signer.transact({
        to: exchange,
        data: encodeFunctionData({
          abi: seaportFunctions,
          functionName: "validate",
          args: [[{ parameters: orderParameters(components), signature }]],
        }),
      }),
  };
}
