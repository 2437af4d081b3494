import {
  type Address,
  encodeFunctionData,
  type Hex,
  type LocalAccount,
  parseAbi,
  type TransactionReceipt,
} from "viem";
import type { ChainId } from "#chains/index.ts";
import type { DevnetClient } from "../client.ts";
import type { Random } from "./random.ts";

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

type Call = { to: Address; data?: Hex; value?: bigint };

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

/** Functions of the local collections beyond the token standards: anyone may mint, and ERC-2981. */
export const collectionAbi = parseAbi([
  "function mint(address to, uint256 id)",
  "function mintBatch(address to, uint256 fromId, uint256 count)",
  "function mintConsecutive(address to, uint96 count)",
  "function burn(uint256 id)",
  "function royaltyInfo(uint256 id, uint256 priceWei) view returns (address recipient, uint256 royaltyWei)",
]);

export const editionsAbi = parseAbi([
  "function mint(address to, uint256 id, uint256 units)",
  "function mintBatch(address to, uint256[] ids, uint256[] units)",
  "function burn(address owner, uint256 id, uint256 units)",
]);

const smartWalletAbi = parseAbi([
  "function execute(address to, uint256 value, bytes data) returns (bytes)",
]);
