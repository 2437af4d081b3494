import { type Address, encodeFunctionData } from "viem";
import { z } from "zod";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { erc20Abi, erc721Abi } from "#abis/tokens.ts";
import {
  cursorInteger,
  cursorPageOf,
  cursorRefusals,
  cursorTime,
  cutPage,
  pageFields,
  uncountedMeta,
} from "#api/http/page.ts";
import type { ChainId } from "#chains/index.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import type { Database } from "#projections/log/database.ts";
import type { BidRow } from "#projections/orders/read-bids.ts";
import {
  exposedCursor,
  type OpenApproval,
  readExposedBids,
  readExposedListings,
  readOpenApprovals,
} from "#projections/orders/read-exposure.ts";
import type { ListingRow } from "#projections/orders/read-listings.ts";
import { readMarketplaceOrders } from "#projections/orders/read-signed-orders.ts";
import { route } from "../context.ts";
import { chainId, chainRefusals, wallet } from "../parameters.ts";
import { address, uint256Text } from "../wire.ts";
import { Bid, presentBid } from "./bids.ts";
import { Listing, presentListing } from "./listings.ts";
import { type ListingViewContext, listingViewOf } from "./sides.ts";
import { hexBytes } from "./signed-order.ts";

const returns = z.enum(["token", "token_approval", "balance", "allowance"]);

/** Something signed or approved that others can use without the wallet doing anything more. */
export const Exposure = z
  .object({
    kind: z.enum(["listing", "bid", "approval"]),
    fillableWith: returns.nullable().meta({
      description:
        "Of an order: what it lacks first. When the maker has it again, and whatever else it lacks, anybody can fill it.",
    }),
    listing: Listing.nullable(),
    bid: Bid.nullable(),
    approval: z
      .object({
        of: z.enum(["tokens", "money"]).meta({
          description: "`tokens`: all of the contract's. `money`: up to an amount of the currency.",
        }),
        contract: address,
        operator: address.meta({
          description: "Who may move them: the marketplaces' common conduit, or the exchange.",
        }),
        amountWei: uint256Text.nullable().meta({
          description: "Of money, as last approved or read; what was spent since may be included.",
        }),
      })
      .nullable(),
    end: z
      .object({
        action: z.enum(["cancel", "revoke"]),
        to: address,
        data: hexBytes,
        value: uint256Text,
      })
      .meta({ description: "The transaction that ends it, sent by the wallet." }),
  })
  .meta({ id: "Exposure" });
type ExposureView = z.output<typeof Exposure>;

const nothing = { listing: null, bid: null, approval: null };

function presentExposedListing(
  row: ListingRow,
  components: OrderComponents,
  context: ListingViewContext,
): ExposureView {
  return {
    ...nothing,
    kind: "listing",
    fillableWith: row.reason === "not_owner" ? "token" : "token_approval",
    listing: presentListing(row, context),
    end: cancel(components),
  };
}

function presentExposedBid(
  row: BidRow,
  components: OrderComponents,
  context: ListingViewContext,
): ExposureView {
  return {
    ...nothing,
    kind: "bid",
    fillableWith: row.reason === "insufficient_balance" ? "balance" : "allowance",
    bid: presentBid(row, context),
    end: cancel(components),
  };
}

function presentOpenApproval({ of, contract, amountWei }: OpenApproval): ExposureView {
  const operator = of === "tokens" ? commonConduit.address : seaportAddresses["1.6"];
  return {
    ...nothing,
    kind: "approval",
    fillableWith: null,
    approval: {
      of,
      contract,
      operator,
      amountWei: amountWei === null ? null : String(amountWei),
    },
    end: { action: "revoke", to: contract, data: revocation(of, operator), value: "0" },
  };
}

function cancel(components: OrderComponents): ExposureView["end"] {
  const data = encodeFunctionData({
    abi: seaportFunctions,
    functionName: "cancel",
    args: [[components]],
  });
  return { action: "cancel", to: seaportAddresses["1.6"], data, value: "0" };
}

function revocation(of: OpenApproval["of"], operator: Address) {
  return of === "tokens"
    ? encodeFunctionData({
        abi: erc721Abi,
        functionName: "setApprovalForAll",
        args: [operator, false],
      })
    : encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [operator, 0n] });
}

const { per_page, cursor } = pageFields;

export const walletExposure = route(
  {
    method: "get",
    path: "/v1/wallets/{wallet}/exposure",
    operationId: "listWalletExposure",
    tag: "Wallets",
    loadClass: "lists",
    summary:
      "What others could use of a wallet: inactive orders that become fillable when a token, money or an approval comes back, then open approvals to the exchange and the conduit, each with the transaction that ends it",
    params: z.object({ wallet }),
    query: z.object({ chainId, cursor, per_page }),
    data: z.array(Exposure),
    meta: uncountedMeta,
    refuses: { ...chainRefusals, ...cursorRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl, market, now }) => {
    const { chainId } = query;
    const maker = params.wallet;
    const request = cursorPageOf(query, { list: "exposure", chainId, maker }, exposureKey);
    if (isRejection(request)) return request;
    const context = { ...(await listingViewOf({ siteUrl, market })), now: now() };
    const rows = await readExposure(db, { chainId, maker }, request.read, context);
    const { shown, meta } = cutPage(request, rows, ({ key }) => key);
    return {
      data: shown.map(({ item }) => item),
      meta: { chainId, per_page: meta.per_page, next_cursor: meta.next_cursor },
    };
  },
);

/** A place in the list: the number of its part, and the last row's key there; an approval's second number is 0. */
type Place = { part: number; value: bigint; position: bigint };

/** Digits are those of the columns: a time and a position of orders, a contract's number of approvals. */
const exposureKey = z
  .union([
    z.tuple([z.enum(["0", "1"]), cursorTime, cursorInteger(18)]),
    z.tuple([z.literal("2"), cursorInteger(9), cursorInteger(1)]),
  ])
  .transform(([part, value, position]): Place => ({ part: Number(part), value, position }));

type Row = { key: readonly bigint[]; item: z.output<typeof Exposure> };
type Wallet = { chainId: ChainId; maker: Address };
type Slice = { limit: number; after: Place | null };

/** What a wallet has signed or approved that is not in use now, from a place on, at most `limit`. */
async function readExposure(
  db: Database,
  wallet: Wallet,
  { limit, after }: Slice,
  context: ListingViewContext & { now: Date },
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [part, read] of parts.entries()) {
    if (after !== null && part < after.part) continue;
    if (rows.length >= limit) break;
    const place = after?.part === part ? after : null;
    const slice = { limit: limit - rows.length, offset: 0, after: place };
    rows.push(...(await read(db, wallet, slice, context)));
  }
  return rows;
}

type Reader = (
  db: Database,
  wallet: Wallet,
  slice: { limit: number; offset: number; after: Place | null },
  context: ListingViewContext & { now: Date },
) => Promise<Row[]>;

const listings: Reader = async (db, wallet, slice, context) => {
  const rows = await readExposedListings(db, wallet, slice, context.now);
  const componentsOf = await readComponents(db, wallet, rows);
  return rows.map((row) => {
    const { value, position } = exposedCursor(row);
    const item = presentExposedListing(row, componentsOf(row), context);
    return { key: [0n, value, position], item };
  });
};

const bids: Reader = async (db, wallet, slice, context) => {
  const rows = await readExposedBids(db, wallet, slice, context.now);
  const componentsOf = await readComponents(db, wallet, rows);
  return rows.map((row) => {
    const { value, position } = exposedCursor(row);
    const item = presentExposedBid(row, componentsOf(row), context);
    return { key: [1n, value, position], item };
  });
};

const approvals: Reader = async (db, { chainId, maker }, { limit, after }) => {
  const request = { chainId, owner: maker, after: Number(after?.value ?? 0n) };
  const rows = await readOpenApprovals(db, request, limit);
  return rows.map((row) => ({
    key: [2n, BigInt(row.contractId), 0n],
    item: presentOpenApproval(row),
  }));
};

const parts: readonly Reader[] = [listings, bids, approvals];

async function readComponents(
  db: Database,
  { chainId }: Wallet,
  rows: readonly { orderHash: `0x${string}` }[],
) {
  const hashes = rows.map(({ orderHash }) => orderHash);
  const orders = hashes.length === 0 ? new Map() : await readMarketplaceOrders(db, chainId, hashes);
  return ({ orderHash }: { orderHash: `0x${string}` }) => {
    const order = orders.get(orderHash);
    if (order === undefined) throw new Error(`the log has no components of ${orderHash}`);
    return order.components;
  };
}
