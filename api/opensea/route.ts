import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { chainNameAt } from "#chains/partners.ts";
import { reject } from "#projections/domain/rejection.ts";
import { type Answer, type Refused, routeFor } from "../http/route.ts";
import { askV1 } from "../v1/ask.ts";
import type { Context } from "../v1/context.ts";

/** What the calls get: as the endpoints of `/v1`, and the chain that their address names. */
export type OpenSeaContext = Context & { readonly chainId: ChainId };

/** A call that names a chain names the one of its address. */
export const openSeaRoute = routeFor<OpenSeaContext>(({ params, query, body }, { chainId }) => {
  const served = chainNameAt("opensea", chainId);
  const named = [params, query, body].flatMap(chainsIn).find((one) => one !== served);
  if (named === undefined) return undefined;
  return reject("unsupported_chain", `chain: this address is of ${served}, not of ${named}`);
});

/** `chain` of the path or the query, or of the order that a body names. */
function chainsIn(given: unknown): string[] {
  if (typeof given !== "object" || given === null) return [];
  const { chain, listing, offer } = given as Record<string, unknown>;
  return [chain, Object(listing).chain, Object(offer).chain].filter(
    (one) => typeof one === "string",
  );
}

export const openSeaRefusals = {
  not_found: 404,
  invalid_parameters: 400,
  invalid_cursor: 400,
  unsupported_chain: 400,
  use_cursor: 400,
} as const;

/** The answer of an endpoint of `/v1` about the chain. Its refusals are those that the call declares. */
export async function askBook<Data, Meta, Code extends string = keyof typeof openSeaRefusals>(
  ...asked: Parameters<typeof askV1<Data, Meta>>
): Promise<Answer<Data, Meta> | Refused<Code>> {
  return (await askV1(...asked)) as Answer<Data, Meta> | Refused<Code>;
}

/** Query of a list, of up to so many rows. */
export const openSeaPage = (most: number) => {
  const limit = `must be a number of rows, up to ${most}`;
  return {
    limit: z
      .string()
      .regex(/^[1-9]\d{0,2}$/, limit)
      .refine((rows) => Number(rows) <= most, limit)
      .default("50"),
    next: z.string().optional(),
  };
};
