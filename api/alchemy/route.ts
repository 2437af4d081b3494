import type { ChainId } from "#chains/index.ts";
import type { Answer, Refused, TypedRoute } from "../http/route.ts";
import { routeFor } from "../http/route.ts";
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

type V1Input = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
};

/** The answer of an endpoint of `/v1` about the chain, in this process. */
export async function ask<Data, Meta>(
  route: TypedRoute<Context, Data, Meta>,
  { params, query }: V1Input,
  { chainId, ...context }: AlchemyContext,
): Promise<Answer<Data, Meta> | Refused<keyof typeof callRefusals>> {
  const named = Object.entries({ chainId: `${chainId}`, ...query });
  const given = Object.fromEntries(named.filter(([, value]) => value !== undefined));
  const input = { params, query: given, body: undefined, address: "", key: null };
  return (await route.answer(input, context)) as
    | Answer<Data, Meta>
    | Refused<keyof typeof callRefusals>;
}
