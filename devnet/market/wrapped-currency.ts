import { type Address, encodeFunctionData } from "viem";
import { seaport, wrappedNative } from "../../abis/deployments.ts";
import { erc20Abi, wrappedNativeAbi } from "../../abis/tokens.ts";
import type { MarketContext, Signer } from "./signer.ts";

/** Wrapping, sending and allowing the wrapped native currency that bids are paid in. */
export function wrappedCurrency({ chainId }: MarketContext, { transact }: Signer) {
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

    /** Sets the exchange's allowance to exactly this amount. */
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
