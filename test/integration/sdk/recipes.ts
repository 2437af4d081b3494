import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import pg from "pg";
import { parseEther, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts } from "../../../devnet/accounts.ts";
import { contracts } from "../../../devnet/contracts/addresses.ts";
import { until } from "../../support/database/pipeline.ts";
import { createDatabase } from "../../support/database/postgres.ts";
import {
  mintPunk,
  orderRequest,
  type Person,
  type TestChain,
} from "../../support/orders/test-chains.ts";
import { openCaller } from "./callers.ts";

const root = join(import.meta.dirname, "../../..");
const folder = join(root, "docs/recipes");

/** The code of the documents, as it stands there, against the local market. */
export function describeRecipes(openChain: () => TestChain): void {
  describe("the recipe", () => {
    let testChain: TestChain;
    /** Below the project, where imports find its packages. */
    let directory: string;
    const tried: string[] = [];
    beforeAll(async () => {
      testChain = openChain();
      await mkdir(join(root, "generated"), { recursive: true });
      directory = await mkdtemp(join(root, "generated/recipes-"));
    });
    afterAll(() => rm(directory, { recursive: true, force: true }));

    async function start(recipe: string, person: Person, settings: Record<string, string> = {}) {
      tried.push(recipe);
      const text = await readFile(join(folder, recipe), "utf8");
      const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(text) ?? [];
      const outfile = join(directory, recipe.replace(/md$/, "mjs"));
      await build({
        ...{ stdin: { contents: code, resolveDir: root, loader: "ts" }, bundle: true, outfile },
        ...{ format: "esm", platform: "node", external: ["viem", "viem/*", "pg"] },
        alias: {
          "order-book": join(root, "sdk/src/index.ts"),
          "order-book/viem": join(root, "sdk/src/viem/index.ts"),
        },
      });
      const { privateKey } = accounts[person].getHdKey();
      return spawn(process.execPath, [outfile], {
        cwd: directory,
        env: {
          ...{ MARKET_URL: testChain.baseUrl, RPC_URL: testChain.rpcUrl },
          ...{ COLLECTION: contracts.punks, PRIVATE_KEY: toHex(privateKey ?? new Uint8Array()) },
          ...settings,
        },
        stdio: ["ignore", "pipe", "inherit"],
      });
    }

    async function outputOf(child: ChildProcess): Promise<string> {
      let output = "";
      for await (const part of child.stdout ?? []) output += part;
      return output;
    }
    const run = async (...args: Parameters<typeof start>) => outputOf(await start(...args));

    it("list-a-wallet.md lists the tokens of the wallet", async () => {
      const { grace } = testChain.actors;
      const { contract, tokenId } = await mintPunk(testChain, "grace");
      const { api } = openCaller(testChain, "grace");
      const held = { wallet: grace.address, collection: contract, per_page: 100 } as const;
      await until("the token to be the wallet's", async () => {
        const { data } = await api.get("/v1/wallets/{wallet}/tokens", held);
        return data.some((row) => row.tokenId === `${tokenId}`);
      });
      expect(await run("list-a-wallet.md", "grace")).toMatch(/listed [1-9]/);
      const query = { collection: contract, token_id: `${tokenId}` };
      expect((await api.get("/v1/listings", query)).data).toHaveLength(1);
    });

    it("sweep-a-floor.md buys and stays below its budget", async () => {
      const { client } = testChain;
      const { address } = accounts.frank;
      const before = await client.getBalance({ address });
      expect(await run("sweep-a-floor.md", "frank")).toMatch(/bought [1-9]/);
      const spent = before - (await client.getBalance({ address }));
      expect(spent).toBeLessThan(parseEther("5.1"));
    });

    it("accept-the-best-bid.md sells to the best bidder", async () => {
      const nft = await mintPunk(testChain, "carol");
      await testChain.actors.bob.wraps(parseEther("50"));
      await openCaller(testChain, "bob").trader.offer([orderRequest(nft, "50")]);
      const settings = { TOKEN_ID: `${nft.tokenId}` };
      const output = await run("accept-the-best-bid.md", "carol", settings);
      expect(output).toContain(`Sell token ${nft.tokenId}`);
    });

    it("first-sale.md names the newest sale", async () => {
      const { data } = await openCaller(testChain, "bob").api.get("/v1/sales", { per_page: 1 });
      expect(await run("first-sale.md", "bob")).toContain(`${data[0]?.tokenId} `);
    });

    it("follow-the-market.md stores every sale once, also when it is killed", async () => {
      const { data, meta } = await openCaller(testChain, "bob").api.get("/v1/sales", {});
      expect(data.length).toBeGreaterThan(0);
      const database = await createDatabase();
      const client = new pg.Client(database.url);
      await client.connect();
      try {
        for (const enough of [3, meta.total]) {
          const child = await start("follow-the-market.md", "bob", { DATABASE_URL: database.url });
          await until(`${enough} sales`, async () => {
            const { rows } = await client
              .query("select count(*)::int as count from sale")
              .catch(() => ({ rows: [{ count: 0 }] }));
            return rows[0].count >= enough;
          });
          child.kill("SIGKILL");
        }
        const { rows } = await client.query("select count(*)::int as count from sale");
        expect(rows[0].count).toBe(meta.total);
      } finally {
        await client.end();
        await database.drop();
      }
    });

    it("of each document was run", async () => {
      const documents = (await readdir(folder)).filter((name) => name !== "README.md");
      expect(tried.toSorted()).toEqual([...documents, "follow-the-market.md"].toSorted());
    });
  });
}
