import { z } from "zod";
import { apechain } from "#chains/apechain.ts";
import { ensChain } from "#chains/index.ts";
import { resolveEnsName } from "#jobs/chain/ens.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import { maxNameLength, parseEnsName } from "#projections/domain/ens-name.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { timedCache } from "../http/reads/cache.ts";
import type { Market } from "../orders/market.ts";
import { route } from "./context.ts";
import { chainId, chainRefusals } from "./parameters.ts";
import { address } from "./wire.ts";

const ttlSeconds = 60;

export const resolveEns = route(
  {
    method: "get",
    path: "/v1/ens/resolve",
    operationId: "resolveEns",
    tag: "Names",
    reads: "nothing",
    summary: `Resolves an ENS name on ${ensChain.name} to its addresses and primary name`,
    query: z.object({
      name: z
        .string()
        .max(maxNameLength)
        .meta({ description: "Such as `alice.eth`; case-insensitive." }),
      chainId,
    }),
    data: z
      .object({
        name: z.string(),
        address: address.nullable().meta({ description: "Coin type 60." }),
        apechainAddress: address
          .nullable()
          .meta({ description: `ENSIP-11, chain ${apechain.id}.` }),
        reverseName: z
          .string()
          .nullable()
          .meta({ description: "Primary name of `address`, when it resolves to `address`." }),
      })
      .meta({ id: "EnsRecord" }),
    refuses: {
      not_found: 404,
      unsupported_name: 422,
      offchain_resolver: 422,
      rpc_unavailable: 503,
      ...chainRefusals,
    },
    maxAgeSeconds: ttlSeconds,
  },
  async ({ query }, { market, chains, now }) => {
    const parsed = parseEnsName(query.name);
    if (isRejection(parsed)) return parsed;
    const { name } = parsed;
    if (!chains.includes(ensChain.id)) return unavailable(`${ensChain.name} is not served here`);
    try {
      const { value: found, maxAgeSeconds } = await readEnsRecord(market, name, {
        name,
        now: now(),
      });
      if (found === "none") return reject("not_found", `${name} has no resolver or no address`);
      if (found === "offchain") {
        return reject("offchain_resolver", `${name} is resolved off chain, which is not supported`);
      }
      return { data: { name, ...found }, maxAgeSeconds };
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      return unavailable(`${ensChain.name} is unavailable`);
    }
  },
);

const unavailable = (why: string) => reject("rpc_unavailable", `${why}; try again later`);

/** The record of a normalized name, at most a minute old. Throws `RpcFailure`. */
export const readEnsRecord = timedCache({
  seconds: () => ttlSeconds,
  read: async (market: Market, { name }: { name: string; now: Date }) =>
    (await resolveEnsName(market.chain(1), name)) ?? ("none" as const),
  maxSize: 10_000,
});
