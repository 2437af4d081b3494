import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import {
  type BlockSaleRow,
  readNewestBlock,
  readSalesOfBlocks,
} from "#projections/sales/read-sales-of-blocks.ts";
import { cursorPageOf, cutPage } from "../http/page.ts";
import { contractsOfQuery } from "../v1/collection-reference.ts";
import { text, wallet } from "../v1/parameters.ts";
import { keyOfSale, saleKey } from "../v1/sales.ts";
import { presentCurrency } from "../v1/wire.ts";
import { alchemyTokenId, blockNumber, contractAddress, pageKey, rowLimit } from "./parameters.ts";
import { alchemyRoute, callRefusals } from "./route.ts";

const fee = z.object({
  amount: z.string(),
  tokenAddress: z.string(),
  symbol: z.string().nullable(),
  decimals: z.int().nullable(),
});

const NftSale = z.object({
  marketplace: z.string(),
  marketplaceAddress: z.string(),
  contractAddress: z.string(),
  tokenId: z.string(),
  quantity: z.string(),
  buyerAddress: z.string(),
  sellerAddress: z.string(),
  taker: z.enum(["BUYER", "SELLER"]),
  sellerFee: fee,
  protocolFee: fee,
  royaltyFee: fee,
  blockNumber: z.int(),
  logIndex: z.int(),
  bundleIndex: z.int(),
  transactionHash: z.string(),
});

/** How far the answer tells of the chain. */
export const ValidAt = z.object({
  blockNumber: z.int(),
  blockHash: z.string().nullable(),
  blockTimestamp: z.string().nullable(),
});

/** Sales of all exchanges, by block. */
export const nftSales = alchemyRoute(
  {
    method: "get",
    path: "/getNFTSales",
    operationId: "getNFTSales",
    tag: "Alchemy",
    loadClass: "lists",
    summary: "Sales of all exchanges, by block",
    query: z.object({
      fromBlock: blockNumber.default(null),
      toBlock: blockNumber.default(null),
      order: z.enum(["asc", "desc"]).default("desc"),
      marketplace: text(100).optional(),
      contractAddress: contractAddress.optional(),
      tokenId: alchemyTokenId.optional(),
      buyerAddress: wallet.optional(),
      sellerAddress: wallet.optional(),
      taker: z.enum(["BUYER", "SELLER"]).optional(),
      limit: rowLimit(1_000),
      pageKey,
    }),
    data: z.object({
      nftSales: z.array(NftSale),
      validAt: ValidAt,
      pageKey: z.string().nullable(),
    }),
    refuses: callRefusals,
  },
  async ({ query }, { db, chainId }) => {
    const { contractAddress: collection, limit, pageKey: cursor } = query;
    const contractIds = await contractsOfQuery(db, { chainId, collection });
    if (isRejection(contractIds)) return contractIds;
    const filter = {
      chainId,
      fromBlock: query.fromBlock,
      toBlock: query.toBlock,
      contractId: contractIds?.[0] ?? null,
      tokenId: query.tokenId ?? null,
      buyer: query.buyerAddress ?? null,
      seller: query.sellerAddress ?? null,
      protocol: query.marketplace ?? null,
      side: query.taker === undefined ? null : sideTakenBy[query.taker],
    };
    const scope = { list: "alchemy sales", ...filter, order: query.order };
    const page = cursorPageOf({ per_page: limit, cursor }, scope, saleKey);
    if (isRejection(page)) return page;
    const slice = { ...page.read, direction: query.order };
    const [rows, newest] = await Promise.all([
      readSalesOfBlocks(db, filter, slice),
      readNewestBlock(db, chainId),
    ]);
    const { shown, meta } = cutPage(page, rows, keyOfSale);
    const sales = shown.map((row) => presentNftSale(row, chainId));
    return {
      data: { nftSales: sales, validAt: presentValidAt(newest), pageKey: meta.next_cursor },
    };
  },
);

/** The side whose order a taker fills. */
const sideTakenBy = { BUYER: "ask", SELLER: "bid" } as const;

function presentNftSale(row: BlockSaleRow, chainId: ChainId): z.output<typeof NftSale> {
  const sumOf = (fees: typeof row.fees) => fees.reduce((sum, { wei }) => sum + BigInt(wei), 0n);
  const royaltyWei = sumOf(row.fees.filter(({ kind }) => kind === "royalty"));
  // Callers add the three up: what goes to anybody else is in none of them otherwise.
  const protocolWei = sumOf(row.fees) - royaltyWei;
  const { symbol, address: tokenAddress } = presentCurrency(chainId, row.currency);
  const feeOf = (amount: bigint) => ({
    amount: String(amount),
    tokenAddress,
    symbol,
    // Those of other currencies are not known.
    decimals: symbol === null ? null : 18,
  });
  return {
    marketplace: row.protocol,
    marketplaceAddress: row.exchange,
    contractAddress: row.contract,
    tokenId: String(row.tokenId),
    quantity: String(row.quantity),
    buyerAddress: row.buyer,
    sellerAddress: row.seller,
    taker: row.side === "ask" ? "BUYER" : "SELLER",
    sellerFee: feeOf(row.totalWei - protocolWei - royaltyWei),
    protocolFee: feeOf(protocolWei),
    royaltyFee: feeOf(royaltyWei),
    blockNumber: Number(row.blockNumber),
    logIndex: row.logIndex,
    bundleIndex: Number(row.bundleIndex),
    transactionHash: row.transactionHash,
  };
}

type NewestBlock = Awaited<ReturnType<typeof readNewestBlock>>;

export const presentValidAt = (block: NewestBlock): z.output<typeof ValidAt> => ({
  blockNumber: Number(block?.number ?? 0n),
  blockHash: block?.hash ?? null,
  blockTimestamp: block?.timestamp.toISOString() ?? null,
});
