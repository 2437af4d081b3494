import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files of most CPU time, e2e aside. One that starts last would be waited for with one core idle. */
const slowest = [
  "log/indexer",
  "operator/operator-backfill",
  "operator/operator-verify",
  "operator/operator-rebuild",
  "engine/rebuild-resume",
  "http/any-request",
  "market-data/tokens",
  "market-data/collection-stats",
  "feed/feed-law",
  "orders/bids",
  "operator/operator-collections",
  "operator/quarantine-operator",
  "market-data/traits",
  "partners/marketplaces-sync",
  "partners/cross-listings",
  "market-data/metadata-projection",
];

/** End-to-end tests first, as they wait the most, then the slowest files, then the others as Vitest sorts them. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ project, moduleId }: TestSpecification): number {
  if (project.name === "e2e") return -1;
  const index = slowest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return index === -1 ? slowest.length : index;
}
