import { type Address, encodeFunctionData } from "viem";
import { seaport, wrappedNative } from "../../abis/deployments.ts";
import { erc20Abi, wrappedNativeAbi } from "../../abis/tokens.ts";
import type { Party, Venue } from "./party.ts";

/** Wrapped native currency, which bids are paid in. */
export function purse({ chainId }: Venue, { transact }: Party) {
  const currency = wrappedNative[chainId];
  return {
    wraps: (wei: bigint) =>
      transact({
        to: currency,
        value: wei,
        data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: "deposit" }),
      }),

    unwraps: (wei: bigint) =>
      transact({
        to: currency,
        data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: "withdraw", args: [wei] }),
      }),

    sendsWrapped: (to: { address: Address }, wei: bigint) =>
      transact({
        to: currency,
        data: encodeFunctionData({
          abi: wrappedNativeAbi,
          functionName: "transfer",
          args: [to.address, wei],
        }),
      }),

    /** Lets the exchange itself spend exactly this much; 0 takes it back. */
    allows: (wei: bigint) =>
      transact({
        to: currency,
        data: encodeFunctionData({
          abi: erc20Abi,
          functionName: "approve",
          args: [seaport["1.6"], wei],
        }),
      }),
  };
}
