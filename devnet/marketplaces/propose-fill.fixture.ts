import type { Address, Hex } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { signedZoneAbi } from "../contracts/abis.ts";

export type ProposedFill = {
  fulfillment_data: {
    transaction: {
      to: Address;
      value: string;
      input_data: {
        advancedOrder: {
          parameters: Record<string, unknown>;
          numerator: number;
          denominator: number;
          signature: Hex;
          extraData: Hex;
        };
        fulfillerConduitKey: Hex;
        recipient: Address;
      };
    };
  };
};

type AskedFill = { url: string; chain: string; orderHash: Hex; buyer: Address; units?: number };

/** Asks the stand-in for the data with which `buyer` fills a listing. */
export async function proposeFill({ url, chain, orderHash, buyer, units }: AskedFill) {
  const response = await fetch(`${url}/api/v2/listings/fulfillment_data`, {
    method: "POST",
    body: JSON.stringify({
      listing: { hash: orderHash, chain, protocol_address: seaportAddresses["1.6"] },
      fulfiller: { address: buyer },
      ...(units === undefined ? {} : { units_to_fill: units }),
    }),
  });
  return { status: response.status, body: (await response.json()) as ProposedFill };
}

/** The exchange call that a buyer makes from the data; reverts of the zone are decoded. */
export function callOf({ fulfillment_data: { transaction } }: ProposedFill) {
  const { advancedOrder, fulfillerConduitKey, recipient } = transaction.input_data;
  const { parameters, numerator, denominator, signature, extraData } = advancedOrder;
  // The encoder takes decimal strings for integers; its types do not say so.
  const order = { parameters, numerator, denominator, signature, extraData } as never;
  return {
    address: transaction.to,
    abi: [...seaportFunctions, ...signedZoneAbi],
    functionName: "fulfillAdvancedOrder",
    args: [order, [], fulfillerConduitKey, recipient],
    value: BigInt(transaction.value),
  } as const;
}
