import { afterAll, beforeAll, expect, it } from "vitest";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect } from "#devnet/client.ts";
import { requestBatch } from "#jobs/chain/node-client.ts";
import { type RpcProxy, startRpcProxy } from "#test/support/chain/rpc-proxy.ts";

let anvil: Anvil;
beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1 });
});
afterAll(() => anvil.stop());

const refusal = (message: string) => ({
  status: 500,
  body: { id: null, jsonrpc: "2.0", error: { code: 31, message } },
});

const nodes: Record<string, Partial<Pick<RpcProxy, "refuse" | "reform">>> = {
  "takes three calls in a batch": {
    refuse: (count) =>
      count > 3 ? refusal("Batch of more than 3 requests are not allowed on free tier") : undefined,
  },
  "takes no batches": {
    refuse: (_, isBatch) => (isBatch ? refusal("batches are not supported") : undefined),
  },
  "has a null error beside each result": { reform: (answer) => ({ ...answer, error: null }) },
  "names neither the version nor numbers for ids": {
    reform: ({ jsonrpc: _, id, ...answer }) => ({ id: String(id), ...answer }),
  },
};

it.each(Object.entries(nodes))("a node that %s answers as any other", async (_, behaviour) => {
  const proxy = Object.assign(await startRpcProxy(anvil.rpcUrl), behaviour);
  try {
    const accounts = await connect(anvil).getAddresses();
    const calls = Array.from({ length: 120 }, (_, index) => ({
      method: index % 2 === 0 ? "eth_getBalance" : "eth_getTransactionCount",
      params: [accounts[index % accounts.length], "latest"],
    }));
    const from = (url: string) =>
      requestBatch({ chainId: 1, rpcUrls: [url], timeoutMs: 10_000 }, calls);
    const answers = await from(proxy.url);
    expect(answers).toHaveLength(calls.length);
    expect(answers).toEqual(await from(anvil.rpcUrl));
  } finally {
    await proxy.close();
  }
});
