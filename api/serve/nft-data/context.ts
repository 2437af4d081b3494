import type { ChainId } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import type { BearerTokens } from "../accounts/bearer-tokens.ts";
import { type Route, routeFor } from "../http/route.ts";
import type { MediaLinks } from "../views/media.ts";

/** Dependencies of the account API's endpoints. */
export type NftDataContext = {
  readonly db: Database;
  /** Site that `urls` point to. */
  readonly siteUrl: string;
  /** Where links to media point. */
  readonly media: MediaLinks;
  /** Prefix of the market's order ids. */
  readonly prefix: string;
  /** The only chain of the account API. */
  readonly chainId: ChainId;
  readonly tokens: BearerTokens;
  readonly now: () => Date;
};

export type NftDataRoute = Route<NftDataContext>;

export const route = routeFor<NftDataContext>(() => undefined);
