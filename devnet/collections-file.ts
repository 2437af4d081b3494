import { writeFile } from "node:fs/promises";
import type { Address } from "viem";
import { type ChainId, chainIds } from "../chains/index.ts";
import { contracts } from "./contracts/addresses.ts";

/** A row of the curated set: a collection that people browse, of one contract or of a family. */
type CuratedCollection = {
  chainId: ChainId;
  slug: string;
  name: string;
  verified: boolean;
  primary: Address;
  contracts: readonly [Address, ...Address[]];
};

type Listed = Pick<CuratedCollection, "slug" | "name" | "contracts">;

const { punks, editions, familyOne, familyTwo, guarded, burnable, consecutive } = contracts;

const collections: readonly Listed[] = [
  { slug: "local-punks", name: "Local Punks", contracts: [punks] },
  { slug: "local-editions", name: "Local Editions", contracts: [editions] },
  { slug: "local-family", name: "Local Family", contracts: [familyOne, familyTwo] },
  { slug: "local-guarded", name: "Local Guarded", contracts: [guarded] },
  { slug: "local-burnable", name: "Local Burnable", contracts: [burnable] },
  { slug: "local-consecutive", name: "Local Consecutive", contracts: [consecutive] },
];

/** The curated set of the local chains, which have the same collections at the same addresses. */
export async function writeCollections(path: string): Promise<void> {
  const rows: CuratedCollection[] = chainIds.flatMap((chainId) =>
    collections.map((collection) => ({
      chainId,
      ...collection,
      verified: true,
      primary: collection.contracts[0],
    })),
  );
  await writeFile(path, `${JSON.stringify(rows, null, 2)}\n`);
}
