import type { ChainId } from "#chains/index.ts";
import type { RequestOrigin } from "../http/limit.ts";
import type { Answer, Refused, TypedRoute } from "../http/route.ts";
import type { Context } from "./context.ts";

/** Values as they are in an address: text, or objects of text. */
type Query = Readonly<Record<string, unknown>>;

type V1Request = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
  /** Of POST: it names the chain itself, where it has to. */
  readonly body?: unknown;
  /** Whose budgets it uses; by default nobody's. */
  readonly from?: RequestOrigin;
};

/** The answer of an endpoint of `/v1` about a chain, in this process: as a request to it would get it. */
export async function askV1<Data, Meta>(
  route: TypedRoute<Context, Data, Meta>,
  { params, query, body, from = { address: "", key: null } }: V1Request,
  { chainId, ...context }: Context & { readonly chainId: ChainId },
): Promise<Answer<Data, Meta> | Refused> {
  const named = Object.entries({ chainId: `${chainId}`, ...query });
  const given = Object.fromEntries(named.filter(([, value]) => value !== undefined));
  const { address, key } = from;
  return await route.answer({ params, query: given, body, address, key }, context);
}
