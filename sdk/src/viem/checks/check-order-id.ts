import type { Hex } from "viem";
import type { Clients } from "../clients.ts";
import { orderHash } from "../exchange.ts";
import { readCounter } from "../read-approvals.ts";
import { assertSafe, checked } from "../wallet-error.ts";
import { decodePurchase } from "./check-purchase.ts";

/**
 * A purchase fills the order of that id and no other: ids of listings, also of partners', end with the order's hash. The
 * counter, which the hash needs and the purchase does not name, is the maker's on the chain; with another one the order
 * is not valid any more.
 */
export async function checkOrderId(
  { publicClient }: Pick<Clients, "publicClient">,
  { data }: { readonly data: string },
  id: string,
): Promise<void> {
  const { parameters } = checked(() => decodePurchase(data as Hex).order);
  const counter = await readCounter({ publicClient, maker: parameters.offerer });
  // What follows the order's own payments is added by whoever fills it.
  const own = Number(parameters.totalOriginalConsiderationItems);
  const consideration = parameters.consideration.slice(0, own);
  const hash = orderHash({ ...parameters, consideration, counter });
  assertSafe(id.toLowerCase().endsWith(hash), `${id} is another order, or was cancelled`);
}
