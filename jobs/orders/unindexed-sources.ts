import { type Address, decodeEventLog, type Hex, pad, toEventSelector } from "viem";
import { erc1155Abi } from "#abis/tokens.ts";
import { wrappedNative } from "#chains/index.ts";
import type { Window } from "#projections/engine/projection.ts";
import type { Database } from "#projections/log/database.ts";
import {
  type ListedToken,
  readAddedTokens,
  readBidders,
  readBiddersAmong,
  readListedContracts,
  readListedTokens,
  readListedTokensAmong,
  readNewBidders,
} from "#projections/orders/read-orders-without-events.ts";
import type { ChainQuery } from "../chain/chain-query.ts";
import type { ChainClient } from "../chain/client.ts";
import type { ChainLog, LogFilter } from "../chain/fetch-logs.ts";

type Indexed = {
  wrappedNativeEvents: "all" | "none";
  /** Contracts whose transfers are indexed as they happen; null: all. */
  readIndexedCollections: (() => Promise<readonly Address[]>) | null;
};

/** What open orders of a chain depend on and its configuration leaves out of the index. */
export function unindexedSources(
  db: Database,
  client: ChainClient,
  { wrappedNativeEvents, readIndexedCollections }: Indexed,
): FollowedSource[] {
  return [
    ...(wrappedNativeEvents === "none" ? [bidderFunds(db, client)] : []),
    ...(readIndexedCollections === null
      ? []
      : [collectionTransfers(db, client, readIndexedCollections)]),
  ];
}

/** Events that orders depend on and that configuration leaves out of the index: what they touch is read instead. */
export type FollowedSource = {
  readonly name: string;
  /** The logs that matter now; none without orders that depend on them. */
  readFilters(): Promise<LogFilter[]>;
  /** Queries about what logs of these filters touch and open orders depend on. */
  readTouched(logs: readonly ChainLog[]): Promise<ChainQuery[]>;
  /** Queries about orders that a window of the log adds. */
  readAdded(window: Window): Promise<ChainQuery[]>;
  /** Queries about all open orders, in pages; `after`: of the next page, null after the last. */
  readPage(after: string | null): Promise<{ queries: ChainQuery[]; after: string | null }>;
};

/** Accounts named in a filter. Nodes take a thousand at most (geth, erigon); beyond, all logs of a block are fewer. */
const maxNamedAccounts = 500;
/** Accounts of one page of the first read: 2,000 calls, which one request joins to twenty. */
const biddersPerPage = 1_000;

const transfer = toEventSelector("Transfer(address,address,uint256)");
const deposit = toEventSelector("Deposit(address,uint256)");
const withdrawal = toEventSelector("Withdrawal(address,uint256)");

/** Wrapped native currency of accounts with open bids: each event of an account names it in a topic. */
function bidderFunds(db: Database, { chainId }: ChainClient): FollowedSource {
  const currency = wrappedNative[chainId];
  const queriesOf = (owners: readonly Address[]): ChainQuery[] =>
    owners.flatMap((owner) => [
      { kind: "balance_read", currency, owner },
      // A fill by an order that is not stored spends an allowance without another event.
      { kind: "allowance_read", currency, owner },
    ]);
  return {
    name: "bidder funds",
    async readFilters() {
      const bidders = await readBidders(db, chainId, null, maxNamedAccounts + 1);
      if (bidders.length === 0) return [];
      const addresses = [currency];
      if (bidders.length > maxNamedAccounts) {
        return [{ addresses, topics: [[transfer, deposit, withdrawal]] }];
      }
      const named = bidders.map((bidder) => pad(bidder));
      return [
        { addresses, topics: [[transfer, deposit, withdrawal], named] },
        { addresses, topics: [[transfer], null, named] },
      ];
    },
    async readTouched(logs) {
      const ofCurrency = logs.filter(({ address }) => address === currency);
      const accounts = new Set(ofCurrency.flatMap(({ topics }) => topics.slice(1).map(accountOf)));
      return queriesOf(await readBiddersAmong(db, chainId, [...accounts]));
    },
    async readAdded(window) {
      return queriesOf(await readNewBidders(db, chainId, window));
    },
    async readPage(after) {
      const owners = await readBidders(db, chainId, after as Address | null, biddersPerPage);
      const last = owners.length < biddersPerPage ? null : (owners.at(-1) ?? null);
      return { queries: queriesOf(owners), after: last };
    },
  };
}

const accountOf = (topic: Hex): Address => `0x${topic.slice(-40)}`;

/** Addresses of one filter. */
const maxAddresses = 200;
const tokensPerPage = 400;

const erc721Transfer = toEventSelector("Transfer(address,address,uint256)");
const transfers = [
  erc721Transfer,
  toEventSelector("TransferSingle(address,address,address,uint256,uint256)"),
  toEventSelector("TransferBatch(address,address,address,uint256[],uint256[])"),
];

/** Owners of listed tokens of the contracts whose transfers are not indexed; `readIndexed`: those that are now. */
function collectionTransfers(
  db: Database,
  { chainId }: ChainClient,
  readIndexed: () => Promise<readonly Address[]>,
): FollowedSource {
  const readInBook = async () => ({ chainId, indexed: await readIndexed() });
  return {
    name: "collection transfers",
    async readFilters() {
      const contracts = await readListedContracts(db, await readInBook());
      const starts = [...contracts.keys()].filter((index) => index % maxAddresses === 0);
      return starts.map((start) => ({
        addresses: contracts.slice(start, start + maxAddresses),
        topics: [transfers],
      }));
    },
    async readTouched(logs) {
      const inBook = await readInBook();
      return (await readListedTokensAmong(db, inBook, logs.flatMap(movedTokens))).map(ownerQuery);
    },
    async readAdded(window) {
      return (await readAddedTokens(db, await readInBook(), window)).map(ownerQuery);
    },
    async readPage(after) {
      const position = after === null ? null : BigInt(after);
      const page = await readListedTokens(db, await readInBook(), position, tokensPerPage);
      const last = page.length < tokensPerPage ? undefined : page.at(-1);
      return { queries: page.map(ownerQuery), after: last ? `${last.position}` : null };
    },
  };
}

function ownerQuery({ contract, tokenId, standard, maker }: ListedToken): ChainQuery {
  return standard === 721
    ? { kind: "owner_read", contract, tokenId }
    : { kind: "units_read", contract, tokenId, owner: maker };
}

/** A log that does not decode moves no token. */
function movedTokens({
  address,
  topics,
  data,
}: ChainLog): { contract: Address; tokenId: bigint }[] {
  const isErc721 = topics[0] === erc721Transfer;
  if (isErc721) {
    const [, , , tokenId] = topics;
    return tokenId === undefined ? [] : [{ contract: address, tokenId: BigInt(tokenId) }];
  }
  try {
    const { args } = decodeEventLog({
      abi: erc1155Abi,
      topics: topics as [`0x${string}`, ...`0x${string}`[]],
      data,
    }) as { args: { id?: bigint; ids?: readonly bigint[] } };
    const ids = args.ids ?? (args.id === undefined ? [] : [args.id]);
    return ids.map((tokenId) => ({ contract: address, tokenId }));
  } catch {
    return [];
  }
}
