import { type Address, encodeFunctionData, type Hex, type LocalAccount, type TransactionReceipt } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { DevnetClient } from "../client.ts";
import { smartWalletAbi } from "./fixture-abis.ts";
import type { Random } from "./random.ts";
import type { Call, Sending } from "./sending.ts";

/** The chain on which actors trade, and the source of random choices. */
export type MarketContext = {
  chainId: ChainId;
  client: DevnetClient;
  sending: Sending;
  random: Random;
};

/** An account that owns tokens, signs orders and sends transactions. */
export type Signer = {
  address: Address;
  /** Signs a digest as it is, without a prefix. */
  sign(digest: Hex): Promise<Hex>;
  transact(call: Call): Promise<TransactionReceipt>;
};

export function accountSigner(market: MarketContext, account: LocalAccount): Signer {
  if (account.sign === undefined) throw new TypeError(`${account.address} cannot sign a digest`);
  const sign = account.sign;
  return {
    address: account.address,
    sign: (digest) => sign({ hash: digest }),
    transact: (call) => market.sending.send(account, call),
  };
}

/** A contract whose owner sends and signs for it (EIP-1271); it pays from its own balance. */
export function walletSigner(address: Address, owner: Signer): Signer {
  return {
    address,
    sign: owner.sign,
    transact: ({ to, value = 0n, data = "0x" }) =>
      owner.transact({
        to: address,
        data: encodeFunctionData({
          abi: smartWalletAbi,
          functionName: "execute",
          args: [to, value, data],
        }),
      }),
  };
}
