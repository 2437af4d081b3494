import { z } from "zod";
import type { Database } from "#projections/log/database.ts";
import type { CollectionRef } from "#projections/collections/find-collection.ts";
import { readHolderGroups } from "#projections/tokens/read-holders.ts";
import { timedCache } from "#api/http/reads/cache.ts";
import { LinkedCollection, presentLinkedCollection } from "#api/serve/views/linked-collection.ts";
import { uint256Text } from "#api/serve/views/wire.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey } from "../routing/parameters.ts";
import { noCollection, referTo } from "./reference.ts";

/** First number of token ids of each group. */
const starts = [1, 2, 4, 11, 26, 51, 101];
const maxAgeSeconds = 60;

const holdersAndTokens = {
  holders: z.int().min(0),
  tokens: uint256Text.meta({ description: "Token ids that they hold." }),
};

export const HolderDistribution = z
  .object({
    collection: LinkedCollection,
    ...holdersAndTokens,
    groups: z
      .array(
        z.object({
          from: z.int().min(1),
          to: z.int().nullable().meta({ description: "null: any number from `from` on." }),
          ...holdersAndTokens,
        }),
      )
      .meta({
        description:
          "By token ids of the collection that an address holds; always the same groups.",
      }),
  })
  .meta({ id: "HolderDistribution" });

export const holderDistribution = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/holders/distribution",
    operationId: "getHolderDistribution",
    tag: "Collections",
    loadClass: "lists",
    summary:
      "How many addresses hold how many tokens of a collection; burn addresses left out. At most a minute old, the caller's cache included",
    params: z.object({ collection: collectionKey }),
    query: z.object({ chainId }),
    data: HolderDistribution,
    refuses: { not_found: 404, ...chainRefusals },
    maxAgeSeconds,
  },
  async ({ params, query: { chainId } }, { db, siteUrl, now }) => {
    const found = await referTo(db, chainId, params.collection);
    if (found === null) return noCollection(chainId, params.collection);
    const { contractIds } = found;
    const request = { contractIds, now: now() };
    const { value, maxAgeSeconds } = await distributionOf(db, contractIds.join(), request);
    return {
      data: { collection: presentLinkedCollection(found, { siteUrl, chainId }), ...value },
      maxAgeSeconds,
    };
  },
);

type Request = Pick<CollectionRef, "contractIds"> & { now: Date };

/** Every holder of the collection is read. */
const distributionOf = timedCache({
  seconds: () => maxAgeSeconds,
  read: readDistribution,
  maxSize: 10_000,
});

async function readDistribution(db: Database, { contractIds }: Request) {
  const found = await readHolderGroups(db, contractIds, starts);
  const groups = starts.map((from, index) => {
    const { holders = 0n, tokens = 0n } = found.find((group) => group.from === from) ?? {};
    const next = starts[index + 1];
    const to = next === undefined ? null : next - 1;
    return { from, to, holders: Number(holders), tokens: String(tokens) };
  });
  return {
    holders: groups.reduce((sum, group) => sum + group.holders, 0),
    tokens: String(found.reduce((sum, group) => sum + group.tokens, 0n)),
    groups,
  };
}
