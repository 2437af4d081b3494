import { setTimeout as delay } from "node:timers/promises";
import { type Address, hexToBigInt, numberToHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import { createContractHealth, openChainClient } from "#jobs/chain/client.ts";
import { createQueryBatcher, queryChain } from "#jobs/chain/query-chain.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { type RpcProxy, startRpcProxy } from "#test/support/chain/rpc-proxy.ts";

let market: Market;
let proxy: RpcProxy;
let alice: Address;

const burners: readonly Address[] = Array.from({ length: 4 }, (_, index) =>
  numberToHex(0xbad_1000 + index, { size: 20 }),
);
/** As ERC-721A: walks back over as many cold slots as the id says, 2,100 gas and more each, to the owner. */
const walking = numberToHex(0xbad_3000, { size: 20 });
const walker = numberToHex(0xa11ce, { size: 20 });
const endless = 1_000_000n;
const [first = "0x", second = "0x", third = "0x", fourth = "0x"] = burners;

beforeAll(async () => {
  market = await openMarket({ chainId: 33139, stocked: true });
  proxy = await startRpcProxy(market.anvil.rpcUrl);
  alice = market.actors.alice.address.toLowerCase() as Address;
  // Loops until its gas is used up.
  // i := calldataload(4); while (i > 0) { pop(sload(i)); i -= 1 }; return 0xa11ce
  const bytecode = "0x6004355b8015601357805450600190036003565b620a11ce60005260206000f3";
  await market.client.setCode({ address: walking, bytecode });
  for (const address of burners) await market.client.setCode({ address, bytecode: "0x5b600056" });
});
afterAll(async () => {
  await proxy.close();
  await market.stop();
});
afterEach(() => {
  proxy.before = async () => {};
});

type Calls = Parameters<RpcProxy["before"]>[0];
const callsTo = (contract: Address, calls: Calls) =>
  calls.filter((call) => JSON.stringify(call).includes(contract.slice(2)));
const gasOf = ({ params: [call] }: Calls[number]): bigint => {
  const gas = typeof call === "object" && call !== null && "gas" in call ? call.gas : "0x0";
  return hexToBigInt(gas as `0x${string}`);
};

const open = (timeoutMs = 10_000) =>
  openChainClient({ chainId: 33139, rpcUrls: [proxy.url], timeoutMs });
const ownerOf = (contract: Address, tokenId = 1n) =>
  ({ kind: "owner_read", contract, tokenId }) as const;
const counter = () => ({ kind: "counter_read", maker: alice }) as const;

const aboutTokens = (contract: Address, count: number): ChainQuery[] =>
  Array.from({ length: count }, (_, index): ChainQuery[] => [
    ownerOf(contract, BigInt(index)),
    { kind: "royalty", contract, tokenId: BigInt(index), salePriceWei: 1_000n },
    {
      kind: "transfer_read",
      contract,
      tokenId: BigInt(index),
      owner: alice,
      standard: "erc721",
    },
  ]).flat();

describe("a contract that does not answer", () => {
  it("delays neither the next caller nor, beyond a deadline, its own", async () => {
    const ask = createQueryBatcher(open(3_000));
    await ask([ownerOf(contracts.punks)]);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let reached = () => {};
    const asked = new Promise<void>((resolve) => {
      reached = resolve;
    });
    proxy.before = async (calls) => {
      if (callsTo(first, calls).length === 0) return;
      reached();
      await held;
    };
    const hostile = ask([ownerOf(first), ownerOf(contracts.punks), counter()]);
    await asked;
    const neighbour = await ask([ownerOf(contracts.punks), counter()]);
    const own = await hostile;
    release();

    expect(neighbour.find(ownerOf(contracts.punks))?.owner).toBe(alice);
    expect(own.find(ownerOf(first))).toBeUndefined();
    expect(own.find(ownerOf(contracts.punks))?.owner).toBe(alice);
    expect(own.find(counter())).toBeDefined();
  });

  it("is not asked again for a while; the others of a request are", async () => {
    const client = open(3_000);
    let answers = false;
    let asked = 0;
    proxy.before = async (calls) => {
      if (callsTo(second, calls).length === 0) return;
      asked += 1;
      if (!answers) await new Promise(() => {});
    };
    await queryChain(client, [ownerOf(second)]);
    answers = true;
    const before = asked;
    const results = await queryChain(client, [ownerOf(second), ownerOf(contracts.punks)]);

    // A node may have lost the first one.
    expect(before).toBe(2);
    expect(asked).toBe(before);
    expect(client.health.countCoolingDown()).toBe(1);
    expect(results.find(ownerOf(second))).toBeUndefined();
    expect(results.find(ownerOf(contracts.punks))?.owner).toBe(alice);
  });
});

describe("a contract that burns all gas", () => {
  it("gets a bounded amount for a hundred tokens, and is not asked again for a while", async () => {
    const client = open();
    let gas = 0n;
    proxy.before = async (calls) => {
      gas += callsTo(third, calls).reduce((sum, call) => sum + gasOf(call), 0n);
    };
    await queryChain(client, aboutTokens(third, 100));
    const spent = gas;
    await queryChain(client, aboutTokens(third, 100));

    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBeLessThanOrEqual(150_000_000n);
    expect(gas).toBe(spent);
  });

  it("says nothing about an owner, and never that there is none", async () => {
    const { find, readings } = await queryChain(open(), [ownerOf(fourth)]);

    expect(find(ownerOf(fourth))).toBeUndefined();
    expect(readings).toEqual([]);
  });

  it("rests for the asker who named what is costly, and for nobody else", async () => {
    const client = open();
    const rests = async (asker: string, query: ChainQuery) => {
      let asked = 0;
      proxy.before = async (calls) => {
        asked += callsTo(walking, calls).length;
      };
      const { find } = await queryChain(client, [query], { asker });
      return asked === 0 && find(query) === undefined;
    };
    const costly = Array.from({ length: 16 }, (_, n) => ownerOf(walking, endless + BigInt(n)));
    await queryChain(client, costly, { asker: "stranger" });

    expect(await rests("stranger", ownerOf(walking, 1n))).toBe(true);
    expect(await rests("owner", ownerOf(walking, 1n))).toBe(false);
    expect(client.health.isCoolingDown(walking)).toBe(false);
  });

  it("shares no round with others once it did", async () => {
    const client = open();
    client.health.recordCheap(walking);
    const ask = createQueryBatcher(client);
    const costly = Array.from({ length: 16 }, (_, n) => ownerOf(walking, endless + BigInt(n)));
    const [stranger, owner] = await Promise.all([ask(costly), ask([ownerOf(walking, 1n)])]);

    expect(costly.filter((query) => stranger.find(query) !== undefined)).toEqual([]);
    expect(owner.find(ownerOf(walking, 1n))?.owner).toBe(walker);
  });
});

describe("an honest contract", () => {
  it.each([
    ["a few", 900n],
    ["thousands of", 9_000n],
  ])("is answered that walks over %s slots", async (_, steps) => {
    const queries = Array.from({ length: 12 }, (_one, n) => ownerOf(walking, steps + BigInt(n)));
    const { find } = await queryChain(open(), queries);

    expect(queries.map((query) => find(query)?.owner)).toEqual(queries.map(() => walker));
  });

  it("is answered on a node that is slow with everything", async () => {
    const client = open(3_000);
    proxy.before = () => delay(1_500);
    const { find } = await queryChain(client, [ownerOf(contracts.punks), counter()]);

    expect(find(ownerOf(contracts.punks))?.owner).toBe(alice);
    expect(client.health.countCoolingDown()).toBe(0);
  });

  it("is answered beside more contracts that hang than are called at a time", async () => {
    const hanging = Array.from({ length: 7 }, (_, index) =>
      numberToHex(0xbad_2000 + index, { size: 20 }),
    );
    proxy.before = async (calls) => {
      if (hanging.some((contract) => callsTo(contract, calls).length > 0)) {
        await new Promise(() => {});
      }
    };
    const queries = [...hanging, contracts.punks].map((contract) => ownerOf(contract));
    const { find } = await queryChain(open(3_000), queries);

    expect(find(ownerOf(contracts.punks))?.owner).toBe(alice);
  });

  it("is answered beside one that was cheap before and now burns all gas", async () => {
    const client = open();
    for (const contract of [first, contracts.punks]) client.health.recordCheap(contract);
    const own = Array.from({ length: 30 }, (_, index) => ownerOf(contracts.punks, BigInt(index)));
    const { find } = await queryChain(client, [...aboutTokens(first, 100), ...own]);

    expect(own.filter((query) => find(query) === undefined)).toEqual([]);
    expect(client.health.isCoolingDown(first)).toBe(true);
    expect(client.health.isCheap(contracts.punks)).toBe(true);
  });
});

it("a costly contract rests longer each time, and cheap answers make up for it", () => {
  let now = 0;
  const health = createContractHealth(() => now);
  const restOf = () => {
    const from = now;
    while (health.isCoolingDown(first)) now += 1_000;
    return now - from;
  };
  health.recordCostly(first);
  const once = restOf();
  health.recordCostly(first);
  const twice = restOf();
  for (let times = 0; times < 20; times += 1) health.recordCostly(first);
  const most = restOf();
  for (let times = 0; times < 30; times += 1) health.recordCheap(first);
  health.recordCostly(first);

  expect([once, twice, most, restOf()]).toEqual([5_000, 10_000, 600_000, 5_000]);
});
