import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Address, decodeEventLog, type Hex, isAddressEqual, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportEvents } from "#abis/seaport.ts";
import { erc721Abi, erc1155Abi, wrappedNativeAbi } from "#abis/tokens.ts";
import { wrappedNative } from "#chains/index.ts";
import { type TranslatedSale, translateSales } from "../translate-sales.ts";
import type { FulfilledOrder, OrderTransaction, SeaportVersion } from "./orders.ts";
import { factsOf, recordedTrades } from "./seaport.fixture.ts";

type Log = { address: Address; topics: [Hex, ...Hex[]]; data: Hex; logIndex: number | Hex };
type Receipt = { transactionHash: Hex; from: Address; to: Address | null; logs: Log[] };
type Transaction = { hash: Hex; value?: number | Hex; input?: Hex };
type Block = { transactions: Transaction[]; receipts: Receipt[] };
type Move = {
  contract: Address;
  operator: Address | null;
  from: Address;
  to: Address;
  id: bigint;
  units: bigint;
};

/** Recorded mainnet blocks, where they are at hand. The recorded trades of the fixture are always tested. */
// biome-ignore lint/style/noProcessEnv: the environment names their folder
const folder = join(process.env.REAL_DATA_DIR ?? "../shared/realdata", "blocks");
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".gz")) : [];

const versions = new Map(
  Object.entries(seaportAddresses).map(([version, address]) => [
    address as string,
    version as SeaportVersion,
  ]),
);

function lower(hex: Address): Address {
  return hex.toLowerCase() as Address;
}

function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

function decoded(abi: typeof seaportEvents, { data, topics }: Log) {
  return decodeEventLog({ abi, data, topics });
}

function ordersOf(logs: readonly Log[]): Pick<OrderTransaction, "orders" | "matches"> {
  const orders: FulfilledOrder[] = [];
  const matches: OrderTransaction["matches"][number][] = [];
  for (const log of logs) {
    const exchange = lower(log.address);
    const version = versions.get(exchange);
    if (version === undefined) continue;
    const event = decoded(seaportEvents, log);
    const logIndex = Number(log.logIndex);
    if (event.eventName === "OrderFulfilled") {
      const args = JSON.parse(
        JSON.stringify(event.args, plain).replace(/0x[0-9a-fA-F]+/g, (hex) => hex.toLowerCase()),
      );
      orders.push({ ...args, exchange, version, logIndex });
    } else if (event.eventName === "OrdersMatched") {
      matches.push({ exchange, logIndex, orderHashes: event.args.orderHashes });
    }
  }
  return { orders, matches };
}

const transferTopics = { erc20And721: "0xddf252ad", single: "0xc3d58168", batch: "0x4a39dc06" };

function movesOf(logs: readonly Log[]): Move[] {
  return logs.flatMap(({ address: contract, topics, data }): Move[] => {
    if (topics[0].startsWith(transferTopics.erc20And721) && topics.length === 4) {
      const { args } = decodeEventLog({ abi: erc721Abi, eventName: "Transfer", topics, data });
      return [
        { contract, operator: null, from: args.from, to: args.to, id: args.tokenId, units: 1n },
      ];
    }
    if (topics[0].startsWith(transferTopics.single)) {
      const { args } = decodeEventLog({
        abi: erc1155Abi,
        eventName: "TransferSingle",
        topics,
        data,
      });
      return [{ contract, ...args, units: args.value }];
    }
    if (topics[0].startsWith(transferTopics.batch)) {
      const { args } = decodeEventLog({
        abi: erc1155Abi,
        eventName: "TransferBatch",
        topics,
        data,
      });
      return args.ids.map((id, place) => ({
        contract,
        ...args,
        id,
        units: args.values[place] ?? 0n,
      }));
    }
    return [];
  });
}

/** Wei of an ERC-20 that an account sent and received. */
function balanceChange(logs: readonly Log[], currency: Address, account: Address) {
  let sent = 0n;
  let received = 0n;
  for (const { address, topics, data } of logs) {
    if (!isAddressEqual(address, currency)) continue;
    if (!topics[0].startsWith(transferTopics.erc20And721)) continue;
    const { args } = decodeEventLog({ abi: wrappedNativeAbi, eventName: "Transfer", topics, data });
    if (isAddressEqual(args.src, account)) sent += args.wad;
    if (isAddressEqual(args.dst, account)) received += args.wad;
  }
  return { sent, received };
}

/** The NFT's way from the seller, through whichever hands, to the buyer. A lazily minting contract is the operator. */
function reachesBuyer(sale: TranslatedSale, moves: readonly Move[]): boolean {
  let holder: Address = sale.seller;
  for (const move of moves) {
    const isSold =
      move.id === BigInt(sale.tokenId) &&
      move.units >= sale.quantity &&
      (isAddressEqual(move.contract, sale.contract) ||
        move.operator?.toLowerCase() === sale.contract);
    if (isSold && isAddressEqual(move.from, holder)) holder = move.to;
  }
  return isAddressEqual(holder, sale.buyer);
}

const trades = files.flatMap((name) => {
  const block: Block = JSON.parse(gunzipSync(readFileSync(join(folder, name))).toString());
  return block.receipts.flatMap((receipt) => {
    const facts = ordersOf(receipt.logs);
    if (facts.orders.length === 0) return [];
    const transaction = block.transactions.find(({ hash }) => hash === receipt.transactionHash);
    const input = transaction?.input ?? "0x";
    const given: OrderTransaction = {
      chainId: 1,
      hash: receipt.transactionHash,
      sender: lower(receipt.from),
      calldataTail: input.length >= 10 ? `0x${input.slice(-8)}` : null,
      ...facts,
    };
    const sales = translateSales(factsOf(given), zeroAddress);
    const isDirect = receipt.to !== null && versions.has(lower(receipt.to));
    return [{ name, receipt, given, sales, isDirect, transaction, moves: movesOf(receipt.logs) }];
  });
});

describe("translateSales", () => {
  it("gives every recorded sale an id of its own", () => {
    const recorded = Object.values(recordedTrades).map(({ transaction }) => transaction);
    const given = trades.length > 0 ? trades.map((trade) => trade.given) : recorded;
    const ids = given.flatMap((transaction) =>
      translateSales(factsOf(transaction), zeroAddress).map((sale) => sale.saleId),
    );
    expect(ids.length).toBeGreaterThanOrEqual(given.length);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

if (trades.length > 0)
  describe("translateSales on recorded blocks", () => {
    it("reads every version of the exchange", () => {
      const seen = new Set(
        trades.flatMap(({ sales }) => sales.map((sale) => sale.protocolVersion)),
      );
      expect([...seen].sort()).toEqual(["1.1", "1.4", "1.5", "1.6"]);
    });

    it("finds every NFT sold on its way from the seller to the buyer", () => {
      for (const { receipt, sales, moves } of trades) {
        for (const sale of sales) {
          expect(reachesBuyer(sale, moves), `${receipt.transactionHash} ${sale.tokenId}`).toBe(
            true,
          );
        }
      }
    });

    it("makes one sale per NFT that the exchange moved", () => {
      for (const { receipt, sales, moves, isDirect } of trades) {
        if (isDirect) expect(sales.length, receipt.transactionHash).toBe(moves.length);
      }
    });

    it("leaves no fulfilled order without its sale", () => {
      for (const { receipt, given, sales } of trades) {
        for (const { offer, consideration } of given.orders) {
          const nfts = [...offer, ...consideration].filter((item) => item.itemType >= 2);
          expect(nfts.length, receipt.transactionHash).toBeGreaterThan(0);
          for (const { token, identifier } of nfts) {
            const rows = sales.filter(
              (sale) => sale.contract === token && sale.tokenId === identifier,
            );
            expect(rows.length, receipt.transactionHash).toBe(1);
          }
        }
      }
    });

    it("charges the buyer the native currency that the transaction transferred", () => {
      for (const { receipt, sales, isDirect, transaction } of trades) {
        const value = BigInt(transaction?.value ?? 0);
        if (!isDirect || value === 0n) continue;
        expect(
          sales.reduce((sum, sale) => sum + sale.totalWei, 0n),
          receipt.transactionHash,
        ).toBe(value);
        for (const sale of sales) expect(sale.currency).toBe(zeroAddress);
      }
    });

    it("agrees with the currency's transfers of a bid", () => {
      const bids = trades.flatMap(({ receipt, sales }) =>
        sales.filter((sale) => sale.side === "bid").map((sale) => ({ sale, logs: receipt.logs })),
      );
      expect(bids.length).toBeGreaterThan(0);
      for (const { sale, logs } of bids) {
        const change = (account: Address) => balanceChange(logs, wrappedNative[1], account);
        const fees = sale.fees.reduce((sum, fee) => sum + fee.wei, 0n);
        const seller = change(sale.seller);

        expect(sale.currency).toBe(wrappedNative[1]);
        expect(change(sale.buyer).sent).toBe(sale.totalWei);
        expect(seller.received - seller.sent).toBe(sale.totalWei - fees);
        for (const { recipient } of sale.fees) {
          const paid = sale.fees.filter((fee) => fee.recipient === recipient);
          expect(change(recipient).received).toBe(paid.reduce((sum, fee) => sum + fee.wei, 0n));
        }
      }
    });

    it("makes the same sales with logs of ether's transfers in between (EIP-7708)", () => {
      const apart = <Fact extends { logIndex: number }>(facts: readonly Fact[]) =>
        facts.map((fact) => ({ ...fact, logIndex: fact.logIndex * 4 }));
      for (const { given, sales } of trades) {
        const shifted = { ...given, orders: apart(given.orders), matches: apart(given.matches) };
        const expected = sales.map((sale) => ({ ...sale, logIndex: sale.logIndex * 4 }));
        expect(translateSales(factsOf(shifted), zeroAddress)).toEqual(expected);
      }
    });

    it("makes the same sales where OrdersMatched is not recorded", () => {
      for (const { given, sales } of trades) {
        expect(translateSales(factsOf({ ...given, matches: [] }), zeroAddress)).toEqual(sales);
      }
    });
  });
