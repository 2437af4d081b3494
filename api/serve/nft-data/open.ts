import { accountChain } from "#chains/index.ts";
import type { NftDataContext } from "./context.ts";
import type { NftDataApi } from "./mount.ts";

const chainId = accountChain.id;

/** The settings that the account API needs. `limits.account`: requests per minute. */
export type AccountApiConfig = {
  readonly http: { readonly siteUrl: string; readonly accountApiPath: string };
  readonly access: { readonly limits: { readonly account: number } };
  readonly chains: readonly { readonly chainId: number }[];
};

type Parts = Pick<NftDataContext, "db" | "prefix" | "tokens"> &
  Pick<NftDataApi, "limiter" | "onUse">;

/** The account API of one process; undefined when its chain is not configured. */
export function openNftData(
  { http, access, chains }: AccountApiConfig,
  { limiter, onUse, ...parts }: Parts,
): NftDataApi | undefined {
  if (chains.every((chain) => chain.chainId !== chainId)) return undefined;
  const { siteUrl, accountApiPath: segment } = http;
  const context = { ...parts, siteUrl, chainId, now: () => new Date() } as const;
  return { context, segment, limiter, onUse, perMinute: access.limits.account };
}
