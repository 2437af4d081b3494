import type { Address } from "viem";
import { type Clients, callOptions } from "../clients.ts";
import { type OfferTrait, partsOf } from "../criteria.ts";
import { bidCurrency, exchange } from "../exchange.ts";
import { readAllowance, readBalance } from "../read-approvals.ts";
import { checked } from "../wallet-error.ts";
import type { PlannedOrder } from "./actions.ts";
import { type DraftedOrders, draftOrders, type Intent, readHeader } from "./draft-order.ts";
import { defaultDays, type OrderOptions } from "./list.ts";
import type { Plan } from "./plan.ts";
import { demandOwnAccount, planOf, Steps } from "./steps.ts";

export type OfferItem = {
  readonly contract: Address;
  /** Absent: any token of the contract, or those that follow. */
  readonly tokenId?: bigint;
  /** Any of these tokens, 10,000 at most. */
  readonly tokenIds?: readonly bigint[];
  /** Any of the tokens that have all of these traits now: the plan's order says which. */
  readonly traits?: readonly OfferTrait[];
  /** Units, or tokens of the contract; default: 1. */
  readonly quantity?: bigint;
  /** What the bidder pays for one, fees and royalty included. */
  readonly unitPriceWei: bigint;
  /** Default: 30. */
  readonly days?: number;
};

/** The most items of a request. */
const most = 50;

export type OfferOptions = OrderOptions & {
  /** Wraps what the account's WETH or WAPE lacks for the largest of the bids: each must be covered by itself. */
  readonly wrap?: boolean;
};

/** Bids in WETH or WAPE; approves what they and the maker's open bids need, and no more. */
export async function planOffer(
  clients: Clients,
  items: readonly OfferItem[],
  options: OfferOptions,
): Promise<Plan> {
  const header = await readHeader(clients, options);
  const drafted: DraftedOrders = { orders: [], refused: [] };
  let openOffersWei = 0n;
  for (const { start, part } of partsOf(items, most, ({ tokenIds = [] }) => tokenIds.length)) {
    const { data } = await clients.api.post(
      "/v1/bids/requirements",
      { maker: clients.maker, items: part.map(requestOf), chainId: clients.api.chainId },
      callOptions(options),
    );
    openOffersWei = checked(() => BigInt(data.openOffersWei));
    // What the plan wraps is not there yet.
    const tolerated = options.wrap === true ? "insufficient_balance" : undefined;
    draftOrders(header, part.map(intentOf), data.items, { start, drafted, tolerated });
  }
  const { orders, refused } = drafted;
  const steps = new Steps();
  if (orders.length > 0) {
    if (options.wrap === true) await wrapMissing(clients, steps, orders);
    await approve(clients, steps, orders, openOffersWei);
    steps.signAndPost(orders, options.bulk ?? "auto");
  }
  return planOf(clients, "offer", steps, refused);
}

const totalOf = ({ unitPriceWei, quantity }: PlannedOrder) =>
  BigInt(unitPriceWei) * BigInt(quantity);

async function wrapMissing(
  clients: Clients,
  steps: Steps,
  orders: readonly PlannedOrder[],
): Promise<void> {
  const { chainId } = clients.api;
  const held = await readBalance(clients, bidCurrency[chainId]);
  const largest = orders.map(totalOf).reduce((most, one) => (one > most ? one : most), 0n);
  if (largest <= held) return;
  demandOwnAccount(clients);
  steps.wrap(chainId, largest - held);
}

/**
 * What the maker's open bids and these need. The API's total of the open bids counts as far as they are approved
 * already, so that no answer can make the approval grow by more than these bids.
 */
async function approve(
  clients: Clients,
  steps: Steps,
  orders: readonly PlannedOrder[],
  openOffersWei: bigint,
): Promise<void> {
  const currency = bidCurrency[clients.api.chainId];
  const allowed = await readAllowance(clients, currency, exchange);
  const wei = orders.reduce(
    (sum, order) => sum + totalOf(order),
    openOffersWei < allowed ? openOffersWei : allowed,
  );
  await steps.approveAmount(clients, currency, wei);
}

function subjectOf({ tokenId, tokenIds, traits }: OfferItem) {
  if (tokenId !== undefined) return { kind: "item" as const, tokenId: `${tokenId}` };
  if (traits !== undefined)
    return { kind: "trait" as const, criteria: criteriaOf(tokenIds, traits) };
  if (tokenIds === undefined) return { kind: "collection" as const };
  return { kind: "token-list" as const, criteria: criteriaOf(tokenIds) };
}

const criteriaOf = (tokenIds?: readonly bigint[], traits?: readonly OfferTrait[]) => ({
  ...(tokenIds && { tokenIds: tokenIds.map(String) }),
  ...(traits && { traits: [...traits] }),
});

const requestOf = (item: OfferItem) => ({
  ...subjectOf(item),
  contract: item.contract,
  amountWei: `${item.unitPriceWei}`,
  quantity: Number(item.quantity ?? 1n),
});

const intentOf = (item: OfferItem): Intent => ({
  ...termsOf(item),
  ...(item.tokenIds === undefined && item.traits === undefined
    ? {}
    : { criteria: { tokenIds: [], ...criteriaOf(item.tokenIds, item.traits) } }),
});

const termsOf = ({ contract, tokenId, quantity = 1n, unitPriceWei, days }: OfferItem): Intent => ({
  side: "bid",
  contract,
  quantity: `${quantity}`,
  minNetWei: 0n,
  tokenId: tokenId === undefined ? null : `${tokenId}`,
  unitPriceWei: `${unitPriceWei}`,
  days: days ?? defaultDays,
});
