import { type Hex, toHex } from "viem";
import { z } from "zod";
import {
  readTransfers,
  type TransferFilter,
  type TransferRow,
} from "#projections/activity/read-transfers.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { cursorInteger, cursorOf, parseCursorKey } from "../http/page.ts";
import { text, wallet } from "../v1/parameters.ts";
import { blockNumber, contractAddress } from "./parameters.ts";
import { type AlchemyContext, alchemyRoute, contractIdsOf } from "./route.ts";

const categories = ["erc721", "erc1155", "specialnft"] as const;
const most = 1_000;
const mostContracts = 50;

const maxCount = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^0x[0-9a-fA-F]{1,4}$/)
      .transform(Number),
  ])
  .refine((count) => count >= 1 && count <= most, `must be 0x1 to 0x3e8 (${most})`);

const Asked = z.strictObject({
  category: z.array(z.string().max(20)).min(1).max(10),
  fromBlock: blockNumber.default(null),
  toBlock: blockNumber.default(null),
  order: z.enum(["asc", "desc"]).default("asc"),
  fromAddress: wallet.optional(),
  toAddress: wallet.optional(),
  contractAddresses: z.array(contractAddress).max(mostContracts).optional(),
  maxCount: maxCount.default(most),
  pageKey: text(2_500).optional(),
  withMetadata: z.boolean().default(false),
  /** No token moves in no units here. */
  excludeZeroValue: z.boolean().optional(),
});
type Transfers = z.output<typeof Asked>;

const Request = z.looseObject({
  id: z.union([z.string().max(200), z.number(), z.null()]).default(null),
  method: z.string().max(200),
  params: z.array(z.unknown()).max(10).default([]),
});

/**
 * JSON-RPC, at the address of a node there, and at that of the NFT API: its client has one address for both. Whatever is
 * wrong is an `error` of the answer, since its client reads those alone.
 */
export const assetTransfers = alchemyRoute(
  {
    method: "post",
    path: "",
    operationId: "getAssetTransfers",
    tag: "Alchemy",
    loadClass: "lists",
    scope: "read",
    reads: "snapshot",
    summary: "JSON-RPC: alchemy_getAssetTransfers",
    body: z.unknown(),
    data: z.looseObject({ jsonrpc: z.literal("2.0") }),
    refuses: { bad_request: 400 },
  },
  async ({ body }, context) => {
    const request = Request.safeParse(body);
    if (!request.success) return failed(null, -32_600, "Not one request: id, method, params");
    const { id, method, params } = request.data;
    if (method !== answered)
      return failed(id, -32_601, `${method} is not answered here, only ${answered}: ask a node`);
    const asked = parse(params[0]);
    const result = isRejection(asked) ? asked : await pageOf(asked, context);
    if (isRejection(result)) return failed(id, -32_602, result.message);
    return { data: { jsonrpc: "2.0" as const, id, result } };
  },
);
const answered = "alchemy_getAssetTransfers";

function failed(id: unknown, code: number, message: string) {
  return { data: { jsonrpc: "2.0" as const, id, error: { code, message } } };
}

function parse(params: unknown): Transfers | Rejection {
  const asked = Asked.safeParse(params);
  if (!asked.success) {
    const [issue] = asked.error.issues;
    const field = issue?.path.join(".") || "params";
    return reject("invalid_parameters", `${field}: ${issue?.message}`);
  }
  const others = asked.data.category.filter((name) => !categories.some((known) => known === name));
  if (others.length === 0) return asked.data;
  const message = `category: ${others.join(", ")} ${others.length === 1 ? "is" : "are"} not indexed: ${categories.join(", ")} are`;
  return reject("invalid_parameters", message);
}

async function pageOf(asked: Transfers, context: AlchemyContext) {
  const { chainId, db } = context;
  const filter = await filterOf(asked, context);
  const scope = {
    ...{ list: "alchemy transfers", chainId, order: asked.order },
    ...{ fromBlock: filter.fromBlock, toBlock: filter.toBlock, from: filter.from, to: filter.to },
    ...{ contractIds: filter.contractIds?.join() ?? null, standards: filter.standards.join() },
  };
  const after =
    asked.pageKey === undefined ? null : parseCursorKey(asked.pageKey, scope, transferKey);
  if (isRejection(after)) return reject("invalid_cursor", "pageKey: of another list, or malformed");
  const slice = { limit: asked.maxCount, after, direction: asked.order };
  const { rows, next } = await readTransfers(db, filter, slice);
  const pageKey = cursorOf(scope, next && [next.blockId, next.logIndex, next.subIndex]);
  const transfers = rows.map((row) => presentTransfer(row, asked.withMetadata));
  return { transfers, ...(pageKey !== null && { pageKey }) };
}

async function filterOf(asked: Transfers, context: AlchemyContext): Promise<TransferFilter> {
  const { fromAddress, toAddress, contractAddresses, category } = asked;
  const named = contractAddresses?.length === 0 ? undefined : contractAddresses;
  const found = await Promise.all((named ?? []).map((one) => contractIdsOf(one, context)));
  // Of a contract that is not known there are none.
  const ids = found.flatMap((one) => (isRejection(one) ? [] : one));
  return {
    chainId: context.chainId,
    ...{ fromBlock: asked.fromBlock, toBlock: asked.toBlock },
    ...{ from: fromAddress ?? null, to: toAddress ?? null },
    contractIds: named === undefined ? null : [...new Set(ids)].sort((one, other) => one - other),
    standards: [
      ...(category.includes("erc721") ? [721 as const] : []),
      ...(category.includes("erc1155") ? [1155 as const] : []),
    ],
  };
}

/** Digits are those of bigint and integer columns. */
const transferKey = z
  .tuple([cursorInteger(18), cursorInteger(9), cursorInteger(9)])
  .transform(([blockId, logIndex, subIndex]) => ({
    ...{ blockId, logIndex: Number(logIndex), subIndex: Number(subIndex) },
  }));

/** Ids are of 32 bytes there. */
const idText = (tokenId: bigint): Hex => toHex(tokenId, { size: 32 });

function presentTransfer(row: TransferRow, withMetadata: boolean) {
  const is721 = row.standard === 721;
  const tokenId = idText(row.tokenId);
  const place = `${row.transactionHash}:log:${row.logIndex}`;
  return {
    blockNum: toHex(row.blockNumber),
    uniqueId: row.subIndex === 0 ? place : `${place}:${row.subIndex}`,
    ...{ hash: row.transactionHash, from: row.from, to: row.to },
    ...{ value: null, asset: null },
    erc721TokenId: is721 ? tokenId : null,
    erc1155Metadata: is721 ? null : [{ tokenId, value: toHex(row.quantity) }],
    tokenId,
    ...(row.lastId !== null && row.lastId > row.tokenId && { lastTokenId: idText(row.lastId) }),
    category: is721 ? "erc721" : "erc1155",
    rawContract: { value: null, address: row.contract, decimal: null },
    ...(withMetadata && { metadata: { blockTimestamp: row.at.toISOString() } }),
  };
}
