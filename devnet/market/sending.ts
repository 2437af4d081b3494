import type { Address, Hex, LocalAccount, TransactionReceipt } from "viem";
import type { DevnetClient } from "../client.ts";

export type Call = { to: Address; data?: Hex; value?: bigint };

/** How transactions are sent, and the chain's time for orders signed now. */
export type Sending = {
  /** Resolves when the transaction is mined; throws when the node rejects it or it reverts. */
  send(from: LocalAccount, call: Call): Promise<TransactionReceipt>;
  /** Unix seconds. */
  now(): Promise<bigint>;
};

/** More than the largest transaction needs; `eth_estimateGas` would cost a round trip each. */
const gas = 1_500_000n;
const fees = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/** Sends at the present; the node mines at once or at its interval. */
export function sendAsMined(client: DevnetClient): Sending {
  return {
    send: (from, call) => sendAndAwait(client, from, call),
    now: async () => (await client.getBlock()).timestamp,
  };
}

/** Sends each transaction in a block of its own with the timestamp `nextTime()`, to create a history in the past. */
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
