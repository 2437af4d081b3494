import { defineConfig } from "vitest/config";

const shared = { env: { TZ: "UTC" }, clearMocks: true };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["{abis,projections,api,devnet}/**/*.test.ts"],
          pool: "threads",
        },
      },
      {
        test: {
          ...shared,
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          globalSetup: ["test/support/database/postgres.setup.ts"],
          pool: "forks",
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...shared,
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/support/database/postgres.setup.ts"],
          pool: "forks",
          fileParallelism: false,
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
});
