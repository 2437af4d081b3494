import { type ChainId, chainIds, defaultChain } from "#chains/index.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import type { AccountContext, WebhookOwners } from "../accounts/account-context.ts";
import { type Input, type Route, routeFor } from "../http/route.ts";
import type { OwnKeys } from "../keys/key-terms.ts";
import type { InstantKeys } from "../keys/stored-keys.ts";
import type { Market } from "../orders/market.ts";
import type { MediaLinks } from "./media-links.ts";
import { rejectAmbiguousPoint } from "./point.ts";
import type { PublicStatus } from "./public-status.ts";

/** What the endpoints of `/v1` need. */
export type Context = {
  readonly db: Database;
  /** Site that `urls` point to. */
  readonly siteUrl: string;
  /** Where links to media point. */
  readonly media: MediaLinks;
  /** The chains served. */
  readonly chains: readonly ChainId[];
  readonly readStatus: () => Promise<PublicStatus>;
  readonly market: Market;
  /** Absent: instant keys are not available. */
  readonly instantKeys?: InstantKeys;
  /** What the holders of keys may do with them. Absent: there are no keys. */
  readonly ownKeys?: OwnKeys;
  /** Absent: there are no accounts. */
  readonly accounts?: AccountContext;
  /** Absent: there are no webhooks. */
  readonly webhooks?: WebhookOwners;
  readonly now: () => Date;
};

export type V1Route = Route<Context>;

/** Query parameters of every endpoint: where the chain is in the body, or does not matter, too. */
export const v1Parameters = ["chainId"] as const;

export const route = routeFor<Context>(servedChain, knownChain);

/** Also where the chain is named in the body: a caller that names one in the address means it. */
function knownChain({ query }: Input): Rejection | undefined {
  const asked = chainIdOf(query);
  if (asked === undefined || chainIds.some((known) => String(known) === asked)) return undefined;
  const message = `must be one of ${chainIds.join(", ")}`;
  return reject("unsupported_chain", `chainId: ${message}`, [{ field: "chainId", message }]);
}

/** An installation may serve only some of the chains. The address and the body name one chain, or one of them does. */
function servedChain(input: Input, { chains }: Context, raw: Input): Rejection | undefined {
  const chainId = chainIdOf(input.query) ?? chainIdOf(input.body);
  const ambiguous = rejectAmbiguousPoint(input.query, raw.query, chains.length);
  if (ambiguous !== undefined) return ambiguous;
  const asked = chainIdOf(raw.query);
  if (asked !== undefined && chainId !== undefined && String(chainId) !== asked) {
    const message = `the address names chain ${asked}, the body ${chainId} (as without a chainId: ${defaultChain.id})`;
    return reject("unsupported_chain", `chainId: ${message}`, [{ field: "chainId", message }]);
  }
  if (chainId === undefined || chains.some((served) => served === chainId)) return undefined;
  const message = `chain ${chainId} is not served here; ${chains.join(" and ")} are`;
  return reject("unsupported_chain", `chainId: ${message}`, [{ field: "chainId", message }]);
}

function chainIdOf(part: unknown): unknown {
  return typeof part === "object" && part !== null && "chainId" in part ? part.chainId : undefined;
}
