import type { Address } from "viem";
import type { Figure } from "../figure.ts";
import { compareServers, withLoader } from "./comparison.ts";
import { comparisonOf, type Servers } from "./lists.ts";

const seconds = 4;

/** Hot lists of one collection that Ponder has indexed itself, of our API and of Ponder's GraphQL. */
export async function compareHttp(servers: Servers, collection: Address): Promise<Figure[]> {
  const { postmaster } = servers;
  return await withLoader(async (loader) => {
    const figures: Figure[] = [];
    for (const name of ["sales", "tokens"] as const) {
      const comparison = comparisonOf([name, "small row"], servers, [collection]);
      const terms = { seconds, measuresCached: true };
      figures.push(...(await compareServers(comparison, { loader, postmaster }, terms)));
    }
    return figures;
  });
}
