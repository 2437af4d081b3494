import type { Address, Hex, LocalAccount, TransactionReceipt } from "viem";
import type { DevnetClient } from "../client.ts";

export type Call = { to: Address; data?: Hex; value?: bigint };

/** How transactions reach a chain, and which time it has for the orders signed now. */
export type Sending = {
  /** Resolves when the transaction is mined; throws when the node or the contract refuses it. */
  send(from: LocalAccount, call: Call): Promise<TransactionReceipt>;
  /** Unix seconds. */
  now(): Promise<bigint>;
};

/** Above what the largest action needs; asking the node for an estimate would cost a round trip each. */
const gas = 1_500_000n;
const fees = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/** Sends as the chain mines: at once, or with its next interval. */
export function sendAsMined(client: DevnetClient): Sending {
  return {
    send: (from, call) => sendAndAwait(client, from, call),
    now: async () => (await client.getBlock()).timestamp,
  };
}

/** Sends each transaction as a block of its own at the time that `nextTime` gives, for a history made afterwards. */
export function sendInThePast(client: DevnetClient, nextTime: () => bigint): Sending {
  let time = nextTime();
  return {
    async send(from, call) {
      await client.setNextBlockTimestamp({ timestamp: time });
      const receipt = await sendAndAwait(client, from, call);
      time = nextTime();
      return receipt;
    },
    now: async () => time,
  };
}

async function sendAndAwait(client: DevnetClient, from: LocalAccount, call: Call) {
  const nonce = await client.getTransactionCount({ address: from.address, blockTag: "pending" });
  const receipt = await client.sendTransactionSync({
    account: from,
    chain: client.chain,
    type: "eip1559",
    ...call,
    ...fees,
    gas,
    nonce,
  });
  if (receipt.status === "success") return receipt;
  throw new Error(
    `${from.address} called ${call.to} (${call.data?.slice(0, 10) ?? "no data"}) on chain ` +
      `${client.chain.id} and was reverted in ${receipt.transactionHash}`,
  );
}
