import { type Address, encodeFunctionData } from "viem";
import { seaport } from "#abis/deployments.ts";
import { erc20Abi, wrappedNativeAbi } from "#abis/tokens.ts";
import { wrappedNative } from "#chains/index.ts";
import type { MarketContext, Signer } from "./signer.ts";

/** Wrapping, sending and allowing the wrapped native currency that bids are paid in. */
export function wrappedCurrency({ chainId, client }: MarketContext, { address, transact }: Signer) {
  const currency = wrappedNative[chainId];
  const approve = (wei: bigint) =>
    transact({
      to: currency,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: "approve",
        args: [seaport["1.6"], wei],
      }),
    });
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
    allows: approve,

    /** Raises the exchange's allowance: what other bids need stays. */
    allowsMore: async (wei: bigint) => {
      const allowed = await client.readContract({
        address: currency,
        abi: erc20Abi,
        functionName: "allowance",
        args: [address, seaport["1.6"]],
      });
      return approve(allowed + wei);
    },
  };
}
