import { type Hex, hexToBigInt, slice } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import type { Block } from "../chain/block.ts";
import { collection, transferTopic } from "../chain/contents.ts";

/** What is compared: each part as lines of text, holders by their number of tokens. */
export type StoredRecord = {
  /** Number and hash of the block, index of the log, token, sender, recipient. */
  readonly transfers: readonly string[];
  /** Raised counters: number and hash of the block, index of the log. */
  readonly counters: readonly string[];
  /** Fills by hash of the block, token, price, seller and buyer. */
  readonly sales: readonly string[];
  readonly owners: ReadonlyMap<string, string>;
  readonly holders: ReadonlyMap<string, number>;
};

export const emptyRecord: StoredRecord = {
  ...{ transfers: [], counters: [], sales: [] },
  ...{ owners: new Map(), holders: new Map() },
};

type LogPlace = { number: number; hash: string; logIndex: number | string };

export const placeLine = ({ number, hash, logIndex }: LogPlace): string =>
  `${number} ${hash} ${logIndex}`;

/** What the chain's blocks hold. A log's index is its place among the logs of its block, whatever a node says. */
export function recordOf(blocks: readonly Block[]): StoredRecord {
  const events = blocks.flatMap(eventsOf);
  const moves = events.flatMap(({ move, line }) => (move === null ? [] : [{ ...move, line }]));
  return {
    transfers: moves.map(({ line, tokenId, from, to }) => `${line} ${tokenId} ${from} ${to}`),
    counters: events.flatMap(({ move, line }) => (move === null ? [line] : [])),
    sales: moves.filter(({ price }) => price > 0n).map(saleLine),
    ...held(new Map(moves.map(({ tokenId, to }) => [tokenId, to]))),
  };
}

type Move = { hash: string; tokenId: string; from: string; to: string; price: bigint };
type RecordEvent = { readonly line: string; readonly move: Move | null };

/** Transfers, and raised counters without a move. */
function eventsOf({ number, hash, transactions }: Block): RecordEvent[] {
  return transactions.flatMap(({ logs, firstLog, value: price }) =>
    logs.flatMap(({ address, topics }, place): RecordEvent[] => {
      const line = placeLine({ number, hash, logIndex: firstLog + place });
      if (address === collection) return [{ line, move: { ...movedBy(topics), hash, price } }];
      return address === seaportAddresses["1.6"] && topics.length === 2
        ? [{ line, move: null }]
        : [];
    }),
  );
}

function movedBy(topics: readonly Hex[]) {
  const [topic, from = "0x", to = "0x", token = "0x"] = topics;
  if (topic !== transferTopic) throw new Error("the collection emits transfers only");
  return { from: slice(from, 12), to: slice(to, 12), tokenId: `${hexToBigInt(token)}` };
}

type Sale = { hash: string; tokenId: string; price: bigint | string; from: string; to: string };

export const saleLine = ({ hash, tokenId, price, from, to }: Sale): string =>
  `${hash} ${tokenId} ${price} ${from} ${to}`;

/** Owners, and how many tokens each holds. */
function held(owners: ReadonlyMap<string, string>): Pick<StoredRecord, "owners" | "holders"> {
  const holders = new Map<string, number>();
  for (const owner of owners.values()) holders.set(owner, (holders.get(owner) ?? 0) + 1);
  return { owners, holders };
}
