import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type Hex, parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { market } from "#sdk/src/index.ts";
import { deploySafe } from "#test/support/chain/safe.ts";
import { until } from "#test/support/database/pipeline.ts";
import { createDatabase } from "#test/support/database/postgres.ts";
import { makeScopedKey } from "#test/support/http/served-webhooks.ts";
import {
  mintPunk,
  orderRequest,
  type Person,
  type TestChain,
  untilStatus,
} from "#test/support/orders/test-chains.ts";
import { openCaller, postedId } from "../callers.ts";
import { deployAirdrop, untilFinal } from "./deployed-airdrop.ts";
import { type PackedClient, root } from "./packed-client.ts";
import type { RecipeRunner } from "./recipe-runner.ts";

/** Who trades, and on which collection the market maker has the floor for itself. */
type Cast = { lister: Person; sweeper: Person; maker: Person; quiet: `0x${string}` };

type Opening = {
  openChain: () => TestChain;
  openRunner: () => Promise<RecipeRunner>;
  cast: Cast;
};

/** The recipes that need a wallet, against the local market. */
export function describeWalletRecipes(where: string, { openChain, openRunner, cast }: Opening) {
  describe(`in ${where}, the recipe`, () => {
    let testChain: TestChain;
    let runner: RecipeRunner;
    beforeAll(async () => {
      testChain = openChain();
      runner = await openRunner();
    });
    afterAll(() => runner?.close());

    const run = async (...args: Parameters<RecipeRunner["start"]>): Promise<string> => {
      const { ended, output } = await runner.start(...args);
      await ended;
      return output();
    };
    /** The API shows who holds a token a moment after the chain does. */
    const untilHeld = async (person: Person, contract: string, tokenId: bigint) => {
      const { api, account } = openCaller(testChain, person);
      // Not by collection: it may be unknown until its first token.
      const held = { wallet: account.address, per_page: 100 } as const;
      await until("the token to be the wallet's", async () => {
        const { data } = await api.get("/v1/wallets/{wallet}/tokens", held);
        return data.some((row) => row.contract === contract && row.tokenId === `${tokenId}`);
      });
    };

    it("list-a-wallet lists the tokens of the wallet", async () => {
      const { contract, tokenId } = await mintPunk(testChain, cast.lister);
      await untilHeld(cast.lister, contract, tokenId);
      expect(await run("list-a-wallet", [cast.lister])).toMatch(/listed [1-9]/);
      const query = { collection: contract, token_id: `${tokenId}` };
      const { data } = await openCaller(testChain, "bob").api.get("/v1/listings", query);
      expect(data).toHaveLength(1);
    });

    it("sweep-a-floor buys and stays below its budget", async () => {
      const { client } = testChain;
      const { address } = accounts[cast.sweeper];
      const cheap = await mintPunk(testChain, "alice");
      await openCaller(testChain, "alice").trader.list([orderRequest(cheap, "0.1")]);
      const before = await client.getBalance({ address });
      expect(await run("sweep-a-floor", [cast.sweeper])).toMatch(/bought [1-9]/);
      const spent = before - (await client.getBalance({ address }));
      expect(spent).toBeGreaterThan(parseEther("0.1"));
      expect(spent).toBeLessThan(parseEther("5.1"));
    });

    it("accept-the-best-bid sells to the best bidder", async () => {
      const nft = await mintPunk(testChain, "carol");
      await testChain.actors.bob.wraps(parseEther("50"));
      await openCaller(testChain, "bob").trader.offer([orderRequest(nft, "50")]);
      const output = await run("accept-the-best-bid", ["carol"], { TOKEN_ID: `${nft.tokenId}` });
      expect(output).toContain(`Sell token ${nft.tokenId}`);
    });

    it("bid-on-a-trait bids on the tokens that have it", async () => {
      const { actors } = testChain;
      await actors[cast.sweeper].wraps(parseEther("1"));
      const { api } = openCaller(testChain, cast.sweeper);
      const collection = contracts.punks;
      let trait: { type: string; value: string } | undefined;
      await until("a trait to be known", async () => {
        const { data } = await api.get("/v1/collections/{collection}/traits", { collection });
        const [first] = data.traitTypes;
        const [value] = first?.values ?? [];
        if (first && value) trait = { type: first.type, value: value.value };
        return trait !== undefined;
      });
      if (trait === undefined) throw new Error("no trait");
      const settings = { TRAIT_TYPE: trait.type, TRAIT_VALUE: trait.value };
      const output = await run("bid-on-a-trait", [cast.sweeper], settings);
      const [, covered = "", bidId = ""] = /covers (\d+) tokens\s+bid (\S+):/.exec(output) ?? [];
      expect(Number(covered), output).toBeGreaterThan(0);
      const { data: bid } = await api.get("/v1/bids/{bidId}", { bidId });
      expect(bid).toMatchObject({
        ...{ kind: "trait", status: "active" },
        criteria: { tokenCount: Number(covered), traits: [{ value: trait.value }] },
      });
    });

    it("sign-with-a-safe lists a token of a Safe by two of its three owners, and it is sold", async () => {
      const { client, actors } = testChain;
      const owners = [accounts.dave.address, accounts.grace.address, accounts.erin.address];
      const safe = await deploySafe(client, owners, 2);
      const nft = await mintPunk(testChain, "alice");
      await actors.alice.transfers(nft, { address: safe });
      const settings = { SAFE: safe, TOKEN_ID: `${nft.tokenId}` };
      const output = await run("sign-with-a-safe", ["grace", "dave"], settings);
      const [, askId = ""] = /listed (\S+)/.exec(output) ?? [];
      const other = await mintPunk(testChain, "alice");
      await actors.alice.transfers(other, { address: safe });
      const more = await run("sign-with-a-safe", ["grace", "dave"], {
        ...{ SAFE: safe, TOKEN_ID: `${other.tokenId}` },
      });
      const [, second = ""] = /listed (\S+)/.exec(more) ?? [];
      const cancels = { SAFE: safe, CANCEL: second };
      expect(await run("sign-with-a-safe", ["grace", "dave"], cancels)).toContain(
        `cancelled ${second}`,
      );
      await untilStatus(testChain.trader("bob"), "listings", second, "cancelled");
      const bought = await openCaller(testChain, "bob").trader.buy([{ askId }]);
      expect(bought.steps.at(-1)).toMatchObject({ statuses: ["filled"] });
      expect(await client.getBalance({ address: safe })).toBeGreaterThan(parseEther("0.8"));
    });

    it("make-a-market follows the floor with its bid and its listings", async () => {
      const { actors } = testChain;
      const { maker, quiet: contract } = cast;
      await actors[maker].wraps(parseEther("2"));
      const holding = { standard: "erc721", contract, tokenId: 9_001n } as const;
      await actors[maker].mints(holding);
      await untilHeld(maker, contract, holding.tokenId);
      const other = { standard: "erc721", contract, tokenId: 9_002n } as const;
      await actors.alice.mints(other);
      const alice = openCaller(testChain, "alice");
      const askId = postedId(await alice.trader.list([orderRequest(other, "1")]));
      const { api, trader } = openCaller(testChain, "carol");
      /** One price, whatever the number of tokens that the maker holds. */
      const priceOf = async (list: "/v1/listings" | "/v1/bids") => {
        const query = { collection: contract, maker: accounts[maker].address };
        const { data } = await api.get(list, query);
        return [...new Set(data.map(({ priceWei }) => priceWei))].join();
      };
      const quotes = (bid: string, ask: string) =>
        until(`quotes of ${bid} and ${ask}`, async () => {
          const asked = [await priceOf("/v1/bids"), await priceOf("/v1/listings")];
          return asked.join() === [parseEther(bid), parseEther(ask)].join();
        });
      const running = await runner.start("make-a-market", [maker], { COLLECTION: contract });
      try {
        await quotes("0.9", "1.1");
        await alice.trader.relist([{ askId, unitPriceWei: parseEther("0.5") }]);
        await quotes("0.45", "0.55");
        const sold = { ...other, tokenId: 9_003n };
        await actors.carol.mints(sold);
        await untilHeld("carol", contract, sold.tokenId);
        await trader.accept({ contract, tokenId: sold.tokenId }, { minNetWei: parseEther("0.3") });
        await until("what was bought to be listed", async () =>
          running.output().includes(`ask ${sold.tokenId} ${parseEther("0.55")}`),
        );
      } catch (error) {
        throw new Error(`It printed:\n${running.output()}`, { cause: error });
      } finally {
        await running.stop();
      }
    });
  });
}

/** Where the recipe receives webhooks: the service is allowed to send there. */
export const webhookPort = 18_417;

/** The recipes that only read. */
export function describeReadingRecipes(
  openClient: () => PackedClient,
  openChain: () => TestChain,
  openRunner: (client: PackedClient, testChain: TestChain) => RecipeRunner,
): void {
  describe("the recipe", () => {
    let testChain: TestChain;
    let runner: RecipeRunner;
    beforeAll(() => {
      testChain = openChain();
      runner = openRunner(openClient(), testChain);
    });

    it("first-sale names the newest sale", async () => {
      const { data } = await openCaller(testChain, "bob").api.get("/v1/sales", { per_page: 1 });
      const { ended, output } = await runner.start("first-sale", []);
      await ended;
      expect(output()).toContain(`${data[0]?.tokenId} `);
    });

    it("follow-the-book has the listings and bids that there are", async () => {
      const { api } = openCaller(testChain, "bob");
      const folder = await mkdtemp(join(tmpdir(), "book-"));
      const file = join(folder, "book.json");
      const totals = async () => {
        const [asks, bids] = await Promise.all([
          api.get("/v1/listings", { per_page: 1 }),
          api.get("/v1/bids", { per_page: 1 }),
        ]);
        return `${asks.meta.total} ${bids.meta.total}`;
      };
      try {
        const following = await runner.start("follow-the-book", [], { BOOK_FILE: file });
        await until("the book to be the market's", async () => {
          const { orders } = JSON.parse(await readFile(file, "utf8").catch(() => '{"orders":[]}'));
          const of = (side: string) => orders.filter((one: { side: string }) => one.side === side);
          return `${of("ask").length} ${of("bid").length}` === (await totals());
        });
        await following.stop();
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it("receive-webhooks takes what it is sent, tests too, and nothing that others send", async () => {
      const WEBHOOK_URL = `http://127.0.0.1:${webhookPort}/`;
      const MARKET_KEY = await makeScopedKey(testChain.databaseUrl, "webhooks");
      const settings = { WEBHOOK_URL, MARKET_KEY, PORT: `${webhookPort}` };
      const receiving = await runner.start("receive-webhooks", [], settings);
      try {
        const { baseUrl: url, chainId } = testChain;
        const api = market({ url, chainId, key: MARKET_KEY });
        let webhookId = "";
        await until("the webhook to be there", async () => {
          const { data } = await api.get("/v1/webhooks", {});
          webhookId = data[0]?.webhookId ?? "";
          return webhookId !== "";
        });
        await until("a test to be taken", async () => {
          const { data } = await api.post("/v1/webhooks/{webhookId}/test", { webhookId });
          return data.isTaken;
        });
        const forged = await fetch(WEBHOOK_URL, { method: "post", body: "{}" });
        expect(forged.status).toBe(400);
        const nft = await mintPunk(testChain, "alice");
        await openCaller(testChain, "alice").trader.list([orderRequest(nft, "1")]);
        const told = ` listing ${nft.contract.toLowerCase()} ${nft.tokenId} 1`;
        await until("the listing to be received", async () => receiving.output().includes(told));
        expect(receiving.output().split(told)).toHaveLength(2);
      } finally {
        await receiving.stop();
      }
    });

    it("airdrop pays who held a collection at a block, by the contract that it shows", async () => {
      const { client, databaseUrl } = testChain;
      const nft = await mintPunk(testChain, "bob");
      const block = await client.getBlockNumber();
      const text = await readFile(join(root, "docs/recipes/airdrop.md"), "utf8");
      expect(text).toContain(await readFile(join(root, "devnet/contracts/Airdrop.sol"), "utf8"));
      await untilFinal(testChain, block);
      const MARKET_KEY = await makeScopedKey(databaseUrl, "read");
      const settings = { MARKET_KEY, BLOCK: `${block}`, COLLECTION: nft.contract };
      const first = await runner.start("airdrop", [], settings);
      await first.ended;
      const [, made = ""] = /holders, root (0x[0-9a-f]{64})/.exec(first.output()) ?? [];
      const address = await deployAirdrop(testChain, made as Hex);
      const second = await runner.start("airdrop", ["bob"], { ...settings, AIRDROP: address });
      await second.ended;
      expect(second.output()).toMatch(/claimed [1-9]\d*: success/);
    });

    it("follow-the-market stores every sale once, also when it is killed", async () => {
      const { data, meta } = await openCaller(testChain, "bob").api.get("/v1/sales", {});
      expect(data.length).toBeGreaterThan(0);
      const database = await createDatabase();
      const client = new pg.Client(database.url);
      await client.connect();
      try {
        for (const enough of [3, meta.total]) {
          const settings = { DATABASE_URL: database.url };
          const following = await runner.start("follow-the-market", [], settings);
          await until(`${enough} sales`, async () => {
            const { rows } = await client
              .query("select count(*)::int as count from sale")
              .catch(() => ({ rows: [{ count: 0 }] }));
            return rows[0].count >= enough;
          });
          await following.stop();
        }
        const { rows } = await client.query("select count(*)::int as count from sale");
        expect(rows[0].count).toBe(meta.total);
      } finally {
        await client.end();
        await database.drop();
      }
    });
  });
}

/** Every document in `docs/recipes` is one of these. */
export const recipes = {
  reading: ["airdrop", "first-sale", "follow-the-book", "follow-the-market", "receive-webhooks"],
  wallet: [
    "accept-the-best-bid",
    "bid-on-a-trait",
    "list-a-wallet",
    "make-a-market",
    "sign-with-a-safe",
    "sweep-a-floor",
  ],
  page: ["survive-a-reload"],
};
