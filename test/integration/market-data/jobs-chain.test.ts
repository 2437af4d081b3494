import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect, type DevnetClient } from "#devnet/client.ts";
import { fetchCanonicalHashes, openChainClient } from "#jobs/chain/client.ts";

let anvil: Anvil;
let client: DevnetClient;

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1 });
  client = connect(anvil);
  await client.mine({ blocks: 10 });
});
afterAll(() => anvil.stop());

const range = (from: bigint, count: number) =>
  Array.from({ length: count }, (_, index) => from + BigInt(index));

describe("canonicalHashes", () => {
  it("follows a reorg, and knows no block above the head", async () => {
    const chain = openChainClient({ chainId: 1, rpcUrls: [anvil.rpcUrl] });
    const before = await fetchCanonicalHashes(chain, range(5n, 8));
    await client.request({ method: "anvil_reorg", params: [3, []] } as never);
    const after = await fetchCanonicalHashes(chain, range(5n, 8));

    for (const number of range(5n, 6)) {
      expect(after.get(number)).toBe((await client.getBlock({ blockNumber: number })).hash);
      expect(after.get(number) === before.get(number)).toBe(number <= 7n);
    }
    expect([after.get(11n), after.get(12n)]).toEqual([null, null]);
  });

  it("fetches more blocks than one request holds", async () => {
    await client.mine({ blocks: 200 });
    const chain = openChainClient({ chainId: 1, rpcUrls: [anvil.rpcUrl] });
    const hashes = await fetchCanonicalHashes(chain, range(0n, 205));
    expect(new Set(hashes.values()).size).toBe(205);
    expect([...hashes.values()]).not.toContain(null);
  });

  it("throws where the only RPC serves another chain, and names the chains but not the key", async () => {
    const chain = openChainClient({ chainId: 33139, rpcUrls: [`${anvil.rpcUrl}/?key=secret-key`] });
    const failure = await fetchCanonicalHashes(chain, [1n]).catch((error: unknown) =>
      String(error),
    );
    expect(failure).toMatch(/chain 33139.* serves chain 1, not 33139/i);
    expect(failure).not.toContain("secret-key");
  });

  it("skips RPCs that are down, refuse, or respond with something else", async () => {
    const broken = await Promise.all([
      serve(503, "try later"),
      serve(200, "<html>"),
      serve(200, JSON.stringify({ jsonrpc: "2.0", id: 0, error: { code: -32600, message: "no" } })),
    ]);
    const down = await serve(200, "");
    down.server.close();
    const urls = [...broken, down].map(({ url }) => url);
    try {
      const alone = openChainClient({ chainId: 1, rpcUrls: urls });
      await expect(fetchCanonicalHashes(alone, [1n])).rejects.toThrow(/503.*not JSON-RPC/s);

      const backed = openChainClient({ chainId: 1, rpcUrls: [...urls, anvil.rpcUrl] });
      const { hash } = await client.getBlock({ blockNumber: 1n });
      expect(await fetchCanonicalHashes(backed, [1n])).toEqual(new Map([[1n, hash]]));
      expect(await backed.getBlockNumber()).toBe(await client.getBlockNumber());
    } finally {
      for (const { server } of broken) server.close();
    }
  });

  it("gives up on an RPC that does not answer in time", async () => {
    const server = createServer(() => {});
    const url = await listen(server);
    const chain = openChainClient({ chainId: 1, rpcUrls: [url, anvil.rpcUrl], timeoutMs: 100 });
    expect((await fetchCanonicalHashes(chain, [1n])).get(1n)).toMatch(/^0x/);
    server.closeAllConnections();
    server.close();
  });
});

async function serve(status: number, body: string): Promise<{ server: Server; url: string }> {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  return { server, url: await listen(server) };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
