import type { Hex } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import { type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import { orderHash } from "../../../../projections/domain/seaport/order-hash.ts";
import { type ListingRow, readListings } from "../../../../projections/reads/listings/read.ts";
import {
  readToldOrders,
  type ToldOrder,
} from "../../../../projections/reads/orders/read-signed-order.ts";
import { judgeStored } from "../checks/check-order.ts";
import type { Market } from "../market.ts";
import { listingId, listingOf } from "../order-id.ts";
import { refuseSale, type Unfillable } from "./buy-check.ts";

/** A listing as the book shows it, and the order behind it. */
export type Offered = { askId: string; row: ListingRow; order: ToldOrder & { orderHash: Hex } };

type Refused =
  | Unfillable
  | Rejection<"not_found" | "order_mismatch" | "unsupported_marketplace" | "unsupported_order">;

/** Those of the listings that the book calls buyable; of the others why not. */
export async function findOffered(
  { writer, prefix, partners }: Pick<Market, "writer" | "prefix" | "partners">,
  { chainId, askIds }: { chainId: ChainId; askIds: readonly string[] },
  now: Date,
): Promise<(Offered | Refused)[]> {
  const names = askIds.map((askId) => listingOf(prefix, askId));
  const hashes = names.flatMap((name) => name?.orderHash ?? []);
  const [rows, orders] = await Promise.all([
    readListings(writer, chainId, hashes, now),
    readToldOrders(writer, chainId, hashes),
  ]);
  const rowOf = new Map(rows.map((row) => [listingId(prefix, row), row]));
  return askIds.map((asked, index) => {
    const name = names[index];
    const askId = name && listingId(prefix, name);
    const row = askId && rowOf.get(askId);
    if (!name || !askId || !row) return reject("not_found", `No listing ${asked}`);
    const refused = refuseRow(row, partners);
    if (refused !== null) return refused;
    const order = orders.get(name.orderHash);
    if (order === undefined || !isSame(row, order)) {
      return reject("order_mismatch", "The signed order is not the listing shown");
    }
    return { askId, row, order: { ...order, orderHash: name.orderHash } };
  });
}

function refuseRow(row: ListingRow, partners: Market["partners"]): Refused | null {
  const { marketplace, isBuyable } = row;
  if (marketplace === "opensea" && !partners.some(({ name }) => name === marketplace)) {
    return reject("unsupported_marketplace", `Listings of ${marketplace} cannot be bought here`);
  }
  if (!isBuyable) {
    return reject("unsupported_order", "Its order is none of those that can be filled from here");
  }
  const refused = judgeStored(row);
  return refused === null ? null : refuseSale(refused);
}

/** What is sold must be what was shown, to the last unit and wei. */
function isSame(row: ListingRow, { components, terms }: ToldOrder): boolean {
  const wholeWei = components.consideration.reduce((sum, leg) => sum + leg.startAmount, 0n);
  return (
    orderHash(components) === row.orderHash &&
    row.unitPriceWei * row.quantity === wholeWei &&
    terms.contract === row.contract &&
    terms.tokenId === row.tokenId &&
    terms.quantity === row.quantity
  );
}
