import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { toFunctionSelector } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { accounts } from "#devnet/accounts.ts";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect } from "#devnet/client.ts";
import { installContracts } from "#devnet/install.ts";
import { allProjections } from "#projections/all.ts";
import { startRpcProxy } from "#test/support/chain/rpc-proxy.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { feeRecipient } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

let anvil: Anvil;
let database: Awaited<ReturnType<typeof openProjectedLog>>;
let api: ApiClient;

beforeAll(async () => {
  database = await openProjectedLog(allProjections({ feeRecipient }));
  await database.clear();
  anvil = await startAnvil({ chainId: 1 });
  await installContracts(connect(anvil));
  api = await serveOver(anvil.rpcUrl);
});

afterAll(async () => {
  await api?.close();
  await anvil?.stop();
  await database?.drop();
});

function serveOver(rpcUrl: string): Promise<ApiClient> {
  const context = {
    db: database.db,
    siteUrl: "https://site.example.test",
    chains: [1, 33139] as const,
    readStatus: async () => {
      throw new Error("not asked");
    },
    market: openTestMarket(database.db, { 1: rpcUrl }),
    now: () => new Date(),
  };
  const logger = pino({ level: "silent" });
  return serve(createApp({ context, baseUrl: "https://api.example.test", logger }));
}

const resolve = (name: string, more = "") =>
  api.get(`/v1/ens/resolve?name=${encodeURIComponent(name)}${more}`);

const lower = (address: string) => address.toLowerCase();
const none = { apechainAddress: null, reverseName: null };

describe("GET /v1/ens/resolve", () => {
  it.each([
    ["alice.eth", "alice.eth", "an exact name with both addresses and a primary name"],
    ["ALICE.eth", "alice.eth", "in any case"],
  ])("%s: %s, %s", async (asked, name) => {
    expect(await resolve(asked)).toMatchObject({
      status: 200,
      body: {
        success: true,
        data: {
          name,
          address: lower(accounts.alice.address),
          apechainAddress: lower(accounts.erin.address),
          reverseName: "alice.eth",
        },
      },
    });
  });

  it("tells no primary name where none is set, and none that leads to somebody else", async () => {
    const bob = { name: "bob.eth", address: lower(accounts.bob.address), ...none };
    const carol = { name: "carol.eth", address: lower(accounts.carol.address), ...none };
    expect((await resolve("bob.eth")).body).toMatchObject({ data: bob });
    expect((await resolve("carol.eth")).body).toMatchObject({ data: carol });
  });

  it("asks the nearest parent's resolver that answers for what is below it", async () => {
    const address = lower(accounts.dave.address);
    for (const name of ["dave.wild.eth", "dave.deep.wild.eth"]) {
      expect(await resolve(name)).toMatchObject({
        status: 200,
        body: { data: { name, address, apechainAddress: address } },
      });
    }
  });

  it.each([
    ["nobody.eth", "no resolver"],
    ["plain.eth", "a resolver without an address"],
    ["sub.alice.eth", "a parent whose resolver does not answer for what is below it"],
    ["erin.wild.eth", "a wildcard without a record"],
  ])("404 not_found of %s: %s", async (name) => {
    expect(await resolve(name)).toMatchObject({ status: 404, body: { code: "not_found" } });
  });

  it("422 offchain_resolver of a name that a gateway answers, whom nobody asks", async () => {
    expect(await resolve("hidden.eth")).toMatchObject({
      status: 422,
      body: { code: "offchain_resolver" },
    });
  });

  it("422 unsupported_name of another alphabet, invalid_parameters of no name or a long one", async () => {
    expect(await resolve("älice.eth")).toMatchObject({
      status: 422,
      body: { code: "unsupported_name" },
    });
    const long = `${"a".repeat(252)}.eth`;
    expect(await resolve(long)).toMatchObject({ body: { code: "invalid_parameters" } });
    expect(await api.get("/v1/ens/resolve")).toMatchObject({
      body: { code: "invalid_parameters" },
    });
  });

  it("reads Ethereum whatever chainId says, and may be kept for what is left of a minute", async () => {
    const answer = await resolve("alice.eth", "&chainId=33139");
    expect(answer.status).toBe(200);
    // Another test may have resolved the name before.
    expect(answer.headers.get("cache-control")).toMatch(/^public, max-age=([0-5]?\d|60)$/);
  });

  it("503 rpc_unavailable while Ethereum cannot be read, and that is not remembered", async () => {
    const other = await serveOver("http://127.0.0.1:1");
    try {
      expect(await other.get("/v1/ens/resolve?name=alice.eth")).toMatchObject({
        status: 503,
        body: { code: "rpc_unavailable" },
      });
    } finally {
      await other.close();
    }
  });
});

it("503 where the node answers for Ethereum's address but not for chain 33139's", async () => {
  const proxy = await startRpcProxy(anvil.rpcUrl);
  const other = await serveOver(proxy.url);
  try {
    const multicoin = toFunctionSelector("addr(bytes32,uint256)").slice(2);
    proxy.override = ({ params }) =>
      JSON.stringify(params).includes(multicoin)
        ? { error: { code: -32_000, message: "lost" } }
        : undefined;
    const ask = () => other.get("/v1/ens/resolve?name=alice.eth");
    expect(await ask()).toMatchObject({ status: 503, body: { code: "rpc_unavailable" } });
    proxy.override = () => undefined;
    expect(await ask()).toMatchObject({ status: 200, body: (await resolve("alice.eth")).body });
  } finally {
    await other.close();
    await proxy.close();
  }
});

describe("GET /v1/search for a name", () => {
  it("finds its wallet", async () => {
    expect(await api.get("/v1/search?q=alice.eth")).toMatchObject({
      status: 200,
      body: { data: { wallets: [{ address: lower(accounts.alice.address) }] } },
    });
  });

  it("holds no connection of the database while Ethereum does not answer", async () => {
    const silent = createServer(() => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const other = await serveOver(`http://127.0.0.1:${port}`);
    try {
      let waiting = 12;
      const searches = Array.from({ length: waiting }, async (_, index) => {
        const answer = await other.get(`/v1/search?q=silent${index}.eth`);
        waiting -= 1;
        return answer;
      });
      await once(silent, "request");
      expect(await other.get("/v1/collections")).toMatchObject({ status: 200 });
      expect(waiting).toBe(12);
      for (const answer of await Promise.all(searches))
        expect(answer).toMatchObject({ status: 200, body: { data: { wallets: [] } } });
    } finally {
      silent.closeAllConnections();
      silent.close();
      await other.close();
    }
  });
});
