import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files of most CPU time, e2e aside. One that starts last would be waited for with one core idle. */
const slowest = [
  "sdk/wallet",
  "operator/operator-verify",
  "orders/order-book-reads-listings",
  "orders/ended-orders",
  "nft-data/nft-data-reads",
  "operator/analytics-role",
  "http/generated-clients",
  "market-data/coin-prices-feed",
  "operator/quarantine-operator",
  "operator/operator-collections",
  "partners/marketplaces-sync",
  "partners/marketplaces-job",
  "feed/feed-stream",
  "market/market",
];

/** End-to-end tests first, as they wait the most, then the slowest files, then the others as Vitest sorts them. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  if (moduleId.includes("/test/e2e/")) return -1;
  const index = slowest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return index === -1 ? slowest.length : index;
}
