import type { Hex } from "viem";
import type { Clients } from "../clients.ts";
import { orderHash } from "../exchange.ts";
import { readCounter } from "../read-approvals.ts";
import { assertSafe, checked } from "../wallet-error.ts";
import { decodePurchase, decodeSweep, type PurchasedOrder } from "./check-purchase.ts";

/**
 * A purchase fills the order of that id and no other: ids of listings, also of partners', end with the order's hash. The
 * counter, which the hash needs and the purchase does not name, is the maker's on the chain; with another one the order
 * is not valid any more.
 */
export async function checkOrderId(
  clients: Pick<Clients, "publicClient">,
  { data }: { readonly data: string },
  id: string,
): Promise<void> {
  await checkIdOf(
    clients,
    checked(() => decodePurchase(data as Hex).order),
    id,
  );
}

/** The same for each order of a sweep. */
export async function checkOrderIds(
  clients: Pick<Clients, "publicClient">,
  { data }: { readonly data: string },
  ids: readonly string[],
): Promise<void> {
  const { orders } = checked(() => decodeSweep(data as Hex));
  await Promise.all(orders.map((order, index) => checkIdOf(clients, order, ids[index] ?? "")));
}

async function checkIdOf(
  { publicClient }: Pick<Clients, "publicClient">,
  { parameters }: PurchasedOrder,
  id: string,
): Promise<void> {
  const counter = await readCounter({ publicClient, maker: parameters.offerer });
  // What follows the order's own payments is added by whoever fills it.
  const own = Number(parameters.totalOriginalConsiderationItems);
  const consideration = parameters.consideration.slice(0, own);
  const hash = orderHash({ ...parameters, consideration, counter });
  assertSafe(id.toLowerCase().endsWith(hash), `${id} is another order, or was cancelled`);
}
