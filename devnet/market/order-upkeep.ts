import { encodeFunctionData } from "viem";
import { seaport } from "../../abis/deployments.ts";
import { seaportFunctions } from "../../abis/seaport.ts";
import { orderParameters } from "../../projections/domain/seaport/fill.ts";
import type { SignedOrder } from "../../projections/domain/seaport/order-components.ts";
import type { Party } from "./party.ts";

/** What makers tell the exchange about orders of their own. */
export function orderUpkeep(party: Party) {
  const exchange = seaport["1.6"];
  return {
    cancels: (...orders: SignedOrder[]) =>
      party.transact({
        to: exchange,
        data: encodeFunctionData({
          abi: seaportFunctions,
          functionName: "cancel",
          args: [orders.map(({ components }) => components)],
        }),
      }),

    /** Ends every order signed so far. */
    incrementsCounter: () =>
      party.transact({
        to: exchange,
        data: encodeFunctionData({ abi: seaportFunctions, functionName: "incrementCounter" }),
      }),

    /** Has the exchange check the signature ahead of the fill. */
    validates: ({ components, signature }: SignedOrder) =>
      party.transact({
        to: exchange,
        data: encodeFunctionData({
          abi: seaportFunctions,
          functionName: "validate",
          args: [[{ parameters: orderParameters(components), signature }]],
        }),
      }),
  };
}
