import type { Address } from "viem";
import { type Clients, callOptions } from "../clients.ts";
import type { PlannedOrder } from "./actions.ts";
import { type DraftedOrders, draftOrders, type Intent, readHeader } from "./draft-order.ts";
import type { Plan } from "./plan.ts";
import { planOf, Steps } from "./steps.ts";

export type ListItem = {
  readonly contract: Address;
  readonly tokenId: bigint;
  /** Units of an ERC-1155 token; default: 1. */
  readonly quantity?: bigint;
  /** What the buyer pays for one unit. */
  readonly unitPriceWei: bigint;
  /** Default: 30. */
  readonly days?: number;
  /** The least that the seller must receive for all units, after fees and royalty. */
  readonly minNetWei?: bigint;
};

export type OrderOptions = {
  /** `auto`: one signature for many orders where the account can; `single`: one for each. */
  readonly bulk?: "auto" | "single";
  readonly signal?: AbortSignal;
};

/** The most items of a request. */
const most = 100;

export const defaultDays = 30;

export async function planList(
  clients: Clients,
  items: readonly ListItem[],
  options: OrderOptions,
): Promise<Plan> {
  const steps = new Steps();
  const { orders, refused } = await draftListings(clients, items, options);
  await addListings(clients, steps, orders, options);
  return planOf(clients, "list", steps, refused);
}

export async function addListings(
  clients: Clients,
  steps: Steps,
  orders: readonly PlannedOrder[],
  { bulk = "auto" }: OrderOptions,
): Promise<void> {
  if (orders.length === 0) return;
  await steps.approveTokens(
    clients,
    orders.map(({ contract }) => contract),
  );
  steps.signAndPost(orders, bulk);
}

/** Listings to be signed, and those which the order book would reject for another reason than the tolerated one. */
export async function draftListings(
  clients: Clients,
  items: readonly ListItem[],
  options: OrderOptions,
  tolerated?: string,
): Promise<DraftedOrders> {
  const header = await readHeader(clients, options);
  const drafted: DraftedOrders = { orders: [], refused: [] };
  for (let start = 0; start < items.length; start += most) {
    const part = items.slice(start, start + most);
    const { data } = await clients.api.post(
      "/v1/listings/requirements",
      { maker: clients.maker, items: part.map(requestOf), chainId: clients.api.chainId },
      callOptions(options),
    );
    draftOrders(header, part.map(intentOf), data.items, { start, drafted, tolerated });
  }
  return drafted;
}

const requestOf = ({ contract, tokenId, quantity = 1n, unitPriceWei }: ListItem) => ({
  contract,
  tokenId: `${tokenId}`,
  quantity: Number(quantity),
  unitPriceWei: `${unitPriceWei}`,
});

const intentOf = ({
  contract,
  tokenId,
  quantity = 1n,
  unitPriceWei,
  ...item
}: ListItem): Intent => ({
  side: "ask",
  contract,
  tokenId: `${tokenId}`,
  quantity: `${quantity}`,
  unitPriceWei: `${unitPriceWei}`,
  days: item.days ?? defaultDays,
  minNetWei: item.minNetWei ?? 0n,
});
