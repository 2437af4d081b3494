import { readdirSync } from "node:fs";
import fc from "fast-check";
import { type Hex, numberToHex, pad, toEventSelector, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { nativeTransferLogs } from "./model/exchange.ts";
import {
  outcomeOf,
  type RecordedTransaction,
  recordedTransactions,
  transactionOf,
} from "./recorded-transactions.fixture.ts";
import type { OrderTransaction } from "./seaport/orders.ts";
import { factsOf, matchOf, recordedTrades } from "./seaport/seaport.fixture.ts";
import { translateSales } from "./translate-sales.ts";

/*
 * EIP-7708: every transfer of ether emits a log from 0xff…fe, wherever it happens in a transaction, and shifts the indexes of
 * the logs that follow.
 */
const selector = toEventSelector("Transfer(address,address,uint256)");

const folders = readdirSync(new URL(".", import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .filter(({ name }) =>
    readdirSync(new URL(name, import.meta.url)).includes("recorded-transactions.json"),
  )
  .map(({ name }) => name);

type Log = RecordedTransaction["logs"][number];

function etherLog(log: Log, transaction: RecordedTransaction, seed: number): Log {
  const [sale] = transaction.sales;
  const parties = [transaction.from, log.address, sale?.seller, sale?.buyer];
  const party = (place: number): Hex => pad(parties[place % parties.length] ?? zeroAddress);
  const wei = BigInt(sale?.totalWei ?? 1n);
  const topics: Hex[] = [selector, party(seed), party(seed + 1)];
  return { ...log, address: nativeTransferLogs, topics, data: numberToHex(wei, { size: 32 }) };
}

/** With so many logs before each, in turn, and the new index of each. */
function withEther(transaction: RecordedTransaction, counts: readonly number[]) {
  const indexes = new Map<number, number>();
  const logs: Log[] = [];
  const start = transaction.logs[0]?.logIndex ?? 0;
  let shift = 0;
  for (const [place, log] of transaction.logs.entries()) {
    for (let added = 0; added < (counts[place % counts.length] ?? 0); added += 1) {
      const logIndex = log.logIndex + shift;
      logs.push({ ...etherLog(log, transaction, place + added + start), logIndex });
      shift += 1;
    }
    indexes.set(log.logIndex, log.logIndex + shift);
    logs.push({ ...log, logIndex: log.logIndex + shift });
  }
  return { transaction: { ...transaction, logs }, indexes };
}

describe.each(folders)("recorded transactions of %s", (folder) => {
  it.each(recordedTransactions(folder))("have the same sales: $teaches", (recorded) => {
    const { sales, unresolved } = outcomeOf(transactionOf(recorded));
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 40 }), (counts) => {
        const { transaction, indexes } = withEther(recorded, counts);
        const shifted = sales.map((sale) => ({ ...sale, logIndex: indexes.get(sale.logIndex) }));
        expect(outcomeOf(transactionOf(transaction))).toEqual({ sales: shifted, unresolved });
      }),
      { numRuns: 20, seed: 7708 },
    );
  });
});

/** Orders are kept as facts, whose indexes are shifted, also between two orders of a match, which `OrdersMatched` names. */
it.each(Object.entries(recordedTrades))("Seaport's %s has the same sales", (_, { transaction }) => {
  const { orders } = transaction;
  const isNamed = orders.length > 1 && orders.every(({ recipient }) => recipient !== zeroAddress);
  const recorded = { ...transaction, matches: isNamed ? [matchOf(orders)] : transaction.matches };
  expect(salesWithoutPlace(spread(recorded))).toEqual(salesWithoutPlace(transaction));
});

const salesWithoutPlace = (one: OrderTransaction) =>
  translateSales(factsOf(one), zeroAddress).map(({ logIndex: _index, ...sale }) => sale);

function spread(one: OrderTransaction): OrderTransaction {
  const apart = <Fact extends { logIndex: number }>(facts: readonly Fact[]) =>
    facts.map((fact) => ({ ...fact, logIndex: fact.logIndex * 3 }));
  return { ...one, orders: apart(one.orders), matches: apart(one.matches) };
}
