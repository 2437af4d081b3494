import { type Address, type Hex, pad, toEventSelector } from "viem";
import { wrappedNative } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import { readBidders, readBiddersAmong, readNewBidders } from "#projections/orders/read-orders-without-events.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { FollowedSource } from "./followed-source.ts";

/** Accounts named in a filter. Nodes take a thousand at most (geth, erigon); beyond, all logs of a block are fewer. */
const maxNamedAccounts = 500;
/** Accounts of one page of the first read: 2,000 calls, which one request joins to twenty. */
const pageSize = 1_000;

const transfer = toEventSelector("Transfer(address,address,uint256)");
const deposit = toEventSelector("Deposit(address,uint256)");
const withdrawal = toEventSelector("Withdrawal(address,uint256)");

/** Wrapped native currency of accounts with open bids: each event of an account names it in a topic. */
export function bidderFunds(db: Database, { chainId }: ChainClient): FollowedSource {
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
      const owners = await readBidders(db, chainId, after as Address | null, pageSize);
      const last = owners.length < pageSize ? null : (owners.at(-1) ?? null);
      return { queries: queriesOf(owners), after: last };
    },
  };
}

const accountOf = (topic: Hex): Address => `0x${topic.slice(-40)}`;
