import type { Config } from "../../run/config/config.ts";
import type { NftDataContext } from "./context.ts";
import type { NftDataApi } from "./mount.ts";

/** The chain that the account API tells of. */
const chainId = 33139;

type Parts = Pick<NftDataContext, "db" | "prefix" | "tokens"> & Pick<NftDataApi, "limiter">;

/** The account API of one process; undefined where its chain is not served. */
export function openNftData(
  { http, access, chains }: Pick<Config, "http" | "access" | "chains">,
  { limiter, ...parts }: Parts,
): NftDataApi | undefined {
  if (chains.every((chain) => chain.chainId !== chainId)) return undefined;
  const { siteUrl, accountApiPath: segment } = http;
  const context = { ...parts, siteUrl, chainId, now: () => new Date() } as const;
  return { context, segment, limiter, perMinute: access.limits.account };
}
