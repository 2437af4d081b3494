import {
  type Address,
  encodeFunctionData,
  type Hex,
  type LocalAccount,
  type TransactionReceipt,
} from "viem";
import type { ChainId } from "../../abis/deployments.ts";
import type { DevnetClient } from "../client.ts";
import { smartWalletAbi } from "./fixture-abis.ts";
import type { Random } from "./random.ts";
import type { Call, Sending } from "./sending.ts";

/** Where trading happens, and with which dice. */
export type Venue = {
  chainId: ChainId;
  client: DevnetClient;
  sending: Sending;
  random: Random;
};

/** Somebody who owns, signs and sends. */
export type Party = {
  address: Address;
  /** Signs a digest as it is, without a prefix. */
  sign(digest: Hex): Promise<Hex>;
  transact(call: Call): Promise<TransactionReceipt>;
};

export function person(venue: Venue, account: LocalAccount): Party {
  if (account.sign === undefined) throw new TypeError(`${account.address} cannot sign a digest`);
  const sign = account.sign;
  return {
    address: account.address,
    sign: (digest) => sign({ hash: digest }),
    transact: (call) => venue.sending.send(account, call),
  };
}

/** A contract that acts at its owner's word and pays from its own balance; his signatures are its own (EIP-1271). */
export function wallet(address: Address, owner: Party): Party {
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
