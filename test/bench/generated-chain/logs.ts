import { type Address, type Hex, pad, toEventSelector, zeroAddress } from "viem";
import { blurAddresses, blurV2Events } from "#abis/blur.ts";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportEvents } from "#abis/seaport.ts";
import { erc721Abi } from "#abis/tokens.ts";
import {
  blockHash,
  orderHash,
  quantity,
  type Transaction,
  targetOf,
  transactionHash,
} from "./chain.ts";

/** A log as a node gives it. */
export type WireLog = {
  address: Address;
  topics: Hex[];
  data: Hex;
  blockHash: Hex;
  blockNumber: Hex;
  logIndex: Hex;
  transactionHash: Hex;
  transactionIndex: Hex;
  removed: false;
};

const selector = (abi: readonly { type: string; name?: string }[], name: string): Hex => {
  const event = abi.find((item) => item.type === "event" && item.name === name);
  if (event === undefined) throw new Error(`no event ${name}`);
  return toEventSelector(event as Parameters<typeof toEventSelector>[0]);
};

const topic = {
  transfer: selector(erc721Abi, "Transfer"),
  fulfilled: selector(seaportEvents, "OrderFulfilled"),
  execution: selector(blurV2Events, "Execution721Packed"),
} as const;

type Log = Pick<WireLog, "address" | "topics" | "data">;

/** A transaction's logs. */
export function logsOf(transaction: Transaction, index: number): WireLog[] {
  const { number, block } = transaction;
  return emittedBy(transaction).map((log, place) => ({
    ...log,
    ...{ blockHash: blockHash(block), blockNumber: quantity(block) },
    ...{ logIndex: quantity(2 * index + place), transactionHash: transactionHash(number) },
    ...{ transactionIndex: quantity(index), removed: false },
  }));
}

function emittedBy(transaction: Transaction): Log[] {
  const moved = transferLog(transaction);
  if (transaction.kind === "seaport") return [fulfilledLog(transaction), moved];
  return transaction.kind === "blur" ? [moved, executionLog(transaction)] : [moved];
}

const word = (value: number | bigint): string => value.toString(16).padStart(64, "0");
const addressWord = (address: Address): string => address.slice(2).padStart(64, "0");
const wei = (milliwei: number): bigint => BigInt(milliwei) * 10n ** 15n;

function transferLog({ contract, from, to, tokenId }: Transaction): Log {
  const topics: Hex[] = [topic.transfer, pad(from), pad(to), `0x${word(tokenId)}`];
  return { address: contract, topics, data: "0x" };
}

/** A listing that the taker pays in ether: the seller, a marketplace and a creator get their shares. */
function fulfilledLog({ number, contract, from, to, tokenId, milliwei }: Transaction): Log {
  const share = (perMille: bigint) => (wei(milliwei) * perMille) / 1_000n;
  const paid = (amount: bigint, recipient: Address) =>
    word(0) + word(0) + word(0) + word(amount) + addressWord(recipient);
  const data = [
    orderHash(number).slice(2) + addressWord(to) + word(0x80) + word(0x120),
    word(1) + word(2) + addressWord(contract) + word(tokenId) + word(1),
    word(3) + paid(share(945n), from),
    paid(share(5n), "0x0000a26b00c1f0df003000390027140000faa719"),
    paid(share(50n), contract),
  ].join("");
  return {
    address: seaportAddresses["1.6"],
    topics: [topic.fulfilled, pad(from), pad(zeroAddress)],
    data: `0x${data}`,
  };
}

/** A listing of the seller's: see `unpack` of Blur's exchange for the order of the bits. */
function executionLog({ number, contract, from, tokenId, milliwei }: Transaction): Log {
  const token = (BigInt(tokenId) << 168n) | BigInt(from);
  const price = (wei(milliwei) << 160n) | BigInt(contract);
  const data = orderHash(number).slice(2) + word(token) + word(price);
  return { address: blurAddresses.v2, topics: [topic.execution], data: `0x${data}` };
}

export type Filter = {
  fromBlock?: Hex;
  toBlock?: Hex;
  blockHash?: Hex;
  address?: Hex | Hex[];
  topics?: (Hex | Hex[] | null)[];
};

/** Contracts and topics of a filter; null: any. */
export type Wanted = { addresses: Set<string> | null; topics: (Set<string> | null)[] };

export function wantedBy({ address, topics = [] }: Filter): Wanted {
  return { addresses: listed(address), topics: topics.map(listed) };
}

const listed = (value: Hex | Hex[] | null | undefined): Set<string> | null =>
  value === null || value === undefined
    ? null
    : new Set([value].flat().map((one) => one.toLowerCase()));

/** Whether the chain has logs of this first topic. */
export const isEmitted = ({ topics: [first] }: Wanted): boolean =>
  Object.values(topic).some((one) => first?.has(one) ?? true);

/** Those of a transaction's logs that are wanted. */
export function wantedLogsOf(transaction: Transaction, index: number, wanted: Wanted): WireLog[] {
  const { addresses, topics } = wanted;
  // Spares the making of logs that no filter of these contracts can match.
  if (
    addresses !== null &&
    !addresses.has(transaction.contract) &&
    !addresses.has(targetOf(transaction))
  ) {
    return [];
  }
  return logsOf(transaction, index).filter(
    (log) =>
      (addresses === null || addresses.has(log.address)) &&
      topics.length <= log.topics.length &&
      topics.every((one, place) => one === null || one.has(log.topics[place] ?? "")),
  );
}
