import { readFileSync } from "node:fs";
import { z } from "zod";
import { chainById, chainIds, chains } from "#chains/index.ts";
import type { CuratedCollection } from "#projections/collections/facts.ts";
import { address } from "./setting.ts";

const Collection = z.strictObject({
  chainId: z.union(chainIds.map((chainId) => z.literal(chainId))),
  slug: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  name: z.string().min(1),
  verified: z.boolean(),
  /** The primary contract of the collection; one of `contracts`. */
  primary: address,
  contracts: z.array(address).min(1),
  /** Block of the first deployment, if it is before the chain's start block. */
  fromBlock: z.number().int().min(0).optional(),
  /** The creator fee of contracts without ERC-2981. */
  royalty: z
    .strictObject({ recipient: address, bps: z.number().int().min(1).max(10_000) })
    .optional(),
});

const CuratedFile = z
  .array(Collection)
  .refine((all) => all.every(({ primary, contracts }) => contracts.includes(primary)), {
    message: "every primary must be one of its collection's contracts",
  })
  .refine(
    (all) =>
      all.every(
        ({ chainId, royalty }) =>
          royalty === undefined || chainById(chainId).hasConfiguredRoyalties,
      ),
    {
      message: `a royalty can be configured on ${chains
        .filter(({ hasConfiguredRoyalties }) => hasConfiguredRoyalties)
        .map(({ id }) => `chain ${id}`)
        .join(", ")} only`,
    },
  )
  .refine(
    (all) => new Set(all.map(({ chainId, slug }) => `${chainId}/${slug}`)).size === all.length,
    {
      message: "slugs of one chain must differ",
    },
  );

/** Reads the curated collections; `fault`: why the file is invalid. */
export function readCurated(
  path: string,
): { collections: CuratedCollection[] } | { fault: string } {
  try {
    const parsed = CuratedFile.safeParse(JSON.parse(readFileSync(path, "utf8")));
    if (parsed.success) return { collections: parsed.data };
    const faults = parsed.error.issues.map((issue) =>
      `${z.core.toDotPath(issue.path)} ${issue.message}`.trim(),
    );
    return { fault: `${path}: ${faults.join("; ")}` };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
