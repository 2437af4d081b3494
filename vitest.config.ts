import { defineConfig } from "vitest/config";
import { SlowestFirst } from "./test/support/processes/slowest-first.ts";
import { TallyReporter } from "./test/support/processes/tally-reporter.ts";

/** Files of a worker share their modules: the application is loaded once per worker, not once per file. */
const shared = { env: { TZ: "UTC" }, clearMocks: true, isolate: false };

/** Ends what hangs; a machine at eight times its load must not reach it. */
const timeouts = {
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 300_000 } },
};

/** Files that wait for databases, chains and processes: two cores carry three at a time. */
const processes = {
  ...shared,
  globalSetup: ["test/support/database/postgres.setup.ts", "test/support/http/prism.setup.ts"],
  provide: { isThorough: false },
  pool: "forks" as const,
  maxWorkers: 3,
  sequence: { groupOrder: 1 },
};

/** What `npm test` checks on a few histories, looks or chains and `npm run test:scale` on all (`test/support/thoroughness.ts`). */
const laws = [
  "e2e/{console,developers,order-book,pipeline,site,trading}",
  "integration/feed/{activity,feed-law}",
  "integration/http/{any-request,drawn-requests,prism}",
  "integration/market-data/{coin-prices,collection-stats,collections,metadata-projection,odd-contracts,ownership-law,tokens,traits}",
  "integration/nft-data/{nft-data-activity,nft-data-document,nft-data-reads}",
  "integration/orders/{bids,ended-orders,listings-law,order-book-reads-bids,order-book-reads-listings,order-events-law}",
  "integration/partners/marketplaces-job",
  "integration/past/{book-law,diff-law,figures-law,rebuild-law}",
  "integration/sales/{sales,sales-bulk}",
  "integration/sdk/wallet",
  "integration/webhooks/{delivery-law,management-law}",
].map((files) => `test/${files}.test.ts`);

export default defineConfig({
  test: {
    reporters: ["default", new TallyReporter()],
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["{abis,chains,projections,jobs,api,ops,sdk}/**/*.test.ts"],
          pool: "threads",
          maxWorkers: 2,
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...processes,
          name: "integration",
          include: ["devnet/**/*.test.ts", "test/{integration,e2e}/**/*.test.ts"],
          ...timeouts,
        },
      },
      {
        test: {
          ...processes,
          name: "scale",
          globalSetup: [...processes.globalSetup, "test/support/database/clickhouse.setup.ts"],
          include: ["test/scale/**/*.test.ts", ...laws],
          provide: { isThorough: true },
          ...timeouts,
        },
      },
      {
        test: {
          ...processes,
          // Of processes at the lowest priority, to which the files of `scale` would leave next to nothing.
          name: "background",
          include: ["test/background/**/*.test.ts"],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          ...timeouts,
        },
      },
    ],
  },
});
