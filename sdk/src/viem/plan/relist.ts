import type { Address } from "viem";
import type { components } from "../../document.ts";
import { type Clients, callOptions } from "../clients.ts";
import { isSame } from "../exchange.ts";
import { checked, WalletError } from "../wallet-error.ts";
import type { OrderRef } from "./actions.ts";
import { addCancellations } from "./cancel.ts";
import { addListings, draftListings, type ListItem, type OrderOptions } from "./list.ts";
import type { Plan } from "./plan.ts";
import { demandOwnAccount, planOf, Steps } from "./steps.ts";

export type RelistItem = {
  readonly askId: string;
  readonly unitPriceWei: bigint;
  /** Default: what is left of the listing. */
  readonly quantity?: bigint;
} & Pick<ListItem, "days" | "minNetWei">;

export type RelistOptions = OrderOptions & {
  /**
   * `cheaper`, the default: the maker's listings of the token that sell for less, since the exchange would still do so;
   * a lower price only hides the older listings, which return when the new one ends. `all`: these too.
   */
  readonly cancel?: "cheaper" | "all";
};

type Listing = components["schemas"]["Listing"];

/** Lists what was listed before at another price, or once more after it has expired. */
export async function planRelist(
  clients: Clients,
  items: readonly RelistItem[],
  options: RelistOptions,
): Promise<Plan> {
  const read = await Promise.all(items.map((item) => readItem(clients, item, options)));
  const listed = read.map(({ listing }) => listing);
  // They are cancelled before.
  const { orders, refused } = await draftListings(clients, listed, options, raiseCode);
  const isRefused = new Set(refused.map(({ index }) => index));
  const cancelled = read.flatMap(({ cancels }, index) => (isRefused.has(index) ? [] : cancels));
  if (cancelled.length > 0) demandOwnAccount(clients);
  const steps = new Steps();
  addCancellations(steps, cancelled);
  await addListings(clients, steps, orders, options);
  return planOf(clients, "relist", steps, refused);
}

const raiseCode = "raise_requires_cancel";

async function readItem(
  clients: Clients,
  item: RelistItem,
  options: RelistOptions,
): Promise<{ listing: ListItem; cancels: OrderRef[] }> {
  const { askId, unitPriceWei, days, minNetWei } = item;
  const { data } = await clients.api.get("/v1/listings/{askId}", { askId }, callOptions(options));
  const listing = checked((): ListItem => {
    if (!isSame(data.maker, clients.maker)) {
      const message = `${askId} is a listing of ${data.maker}`;
      throw new WalletError("blocked", message, { reason: "not_maker" });
    }
    const left = BigInt(data.quantityRemainingExact);
    const { quantity = left > 0n ? left : BigInt(data.quantityExact) } = item;
    return {
      contract: data.contract as Address,
      tokenId: BigInt(data.tokenId),
      quantity,
      unitPriceWei,
      ...(days !== undefined && { days }),
      ...(minNetWei !== undefined && { minNetWei }),
    };
  });
  const open = await listOpen(clients, data, options);
  const isCancelled = ({ priceWei }: Listing) =>
    options.cancel === "all" || BigInt(priceWei) < unitPriceWei;
  const cancels = checked(() => open.filter(isCancelled));
  return { listing, cancels: cancels.map(({ askId: id }) => ({ side: "ask", id })) };
}

/** The maker's listings of an ERC-721 token that can still be filled; of ERC-1155 each stands for itself. */
async function listOpen(
  { api, maker }: Clients,
  old: Listing,
  options: RelistOptions,
): Promise<readonly Listing[]> {
  if (old.standard === "erc1155")
    return old.status === "active" || old.status === "inactive" ? [old] : [];
  const query = { maker, collection: old.contract, token_id: old.tokenId } as const;
  const open: Listing[] = [];
  for (const status of ["active", "inactive"] as const) {
    const own = { ...query, status, marketplace: "native" } as const;
    for await (const row of api.pages("/v1/listings", own, callOptions(options))) open.push(row);
  }
  return open;
}
