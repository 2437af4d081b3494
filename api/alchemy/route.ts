import type { ChainId } from "#chains/index.ts";
import type { Answer, Refused } from "../http/route.ts";
import { routeFor } from "../http/route.ts";
import { askV1 } from "../v1/ask.ts";
import { contractsOfQuery } from "../v1/collection-reference.ts";
import type { Context } from "../v1/context.ts";

/** What the calls get: as the endpoints of `/v1`, and the chain that their address names. */
export type AlchemyContext = Context & { readonly chainId: ChainId };

export const alchemyRoute = routeFor<AlchemyContext>(() => undefined);

/** Codes of what is read from `/v1`, with the statuses that callers of this interface know. */
export const callRefusals = {
  not_found: 404,
  invalid_parameters: 400,
  invalid_cursor: 400,
  unsupported_chain: 404,
  use_cursor: 400,
} as const;

/** The contract that an address names: by its id, as lists are read by several. */
export async function contractIdsOf(address: string, { db, chainId }: AlchemyContext) {
  return (await contractsOfQuery(db, { chainId, collection: address })) ?? [];
}

/** The answer of an endpoint of `/v1` about the chain; its refusals are those of these calls. */
export async function ask<Data, Meta>(
  ...asked: Parameters<typeof askV1<Data, Meta>>
): Promise<Answer<Data, Meta> | Refused<keyof typeof callRefusals>> {
  return (await askV1(...asked)) as Answer<Data, Meta> | Refused<keyof typeof callRefusals>;
}
