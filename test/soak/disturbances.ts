import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { numberToHex, type Transaction } from "viem";
import { type ChainId, chainIds } from "#chains/index.ts";
import { connect, type DevnetClient } from "#devnet/client.ts";
import type { Random } from "#devnet/market/random.ts";
import { faults } from "./faulty-proxy.ts";
import type { SoakMarket } from "./market.ts";
import { findProcess, kill } from "./processes.ts";

type Context = { market: SoakMarket; random: Random };

export type Disturbance = {
  name: string;
  /** Whether requests may fail because of it. */
  takesDown: boolean;
  run(context: Context): Promise<void>;
};

/** Seconds that a host misbehaves: longer than the service's timeouts, shorter than a partner's pass. */
const faultSeconds = 12;
const deepestReorg = 6;

const anyChain = [1, 33139] as const satisfies readonly ChainId[];

/** A process of the service that is killed; the supervisor starts it again. */
const killed = (name: string, pattern: RegExp, takesDown = false): Disturbance => ({
  name: `${name} killed`,
  takesDown,
  async run({ market }) {
    const pid = await findProcess(market.service().pid, pattern);
    if (pid !== null) kill(pid);
  },
});

const postgresPid = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);

const databaseKilled: Disturbance = {
  name: "database killed",
  takesDown: true,
  run: async ({ market }) => kill(postgresPid(market.dataDir)),
};

const databaseRestarted: Disturbance = {
  name: "database restarted",
  takesDown: true,
  run: async ({ market }) => kill(postgresPid(market.dataDir), "SIGINT"),
};

const serviceKilled: Disturbance = {
  name: "whole service killed and started again",
  takesDown: true,
  async run({ market }) {
    const running = market.service();
    kill(running.pid);
    await running.exited;
    market.startService();
  },
};

const nodeMisbehaves: Disturbance[] = faults.map((fault) => ({
  name: `node: ${fault}`,
  takesDown: false,
  async run({ market, random }) {
    const node = market.nodes[random.pick(anyChain)];
    node.fault = fault;
    await delay(faultSeconds * 1_000);
    node.fault = null;
  },
}));

const partnersMisbehave: Disturbance[] = (["hang", "fail", "garble"] as const).map((fault) => ({
  name: `partners: ${fault}`,
  takesDown: false,
  async run({ market }) {
    for (const partner of market.partners) partner.fault = fault;
    await delay(faultSeconds * 1_000);
    for (const partner of market.partners) partner.fault = null;
  },
}));

const reorg: Disturbance = {
  name: "reorg",
  takesDown: false,
  async run({ market, random }) {
    const depth = 1 + random.below(deepestReorg);
    for (const chainId of chainIds) await reorganize(market, chainId, depth, random);
  },
};

/** Replaces a chain's last blocks by others that hold the same transactions: people go on trading on either branch. */
async function reorganize(
  { rpcUrls }: SoakMarket,
  chainId: ChainId,
  depth: number,
  random: Random,
): Promise<void> {
  const client = connect({ chainId, rpcUrl: rpcUrls[chainId] });
  const head = await client.getBlockNumber();
  const repeated: unknown[] = [];
  for (let number = head - BigInt(depth) + 1n; number <= head; number += 1n) {
    const { transactions } = await client.getBlock({
      blockNumber: number,
      includeTransactions: true,
    });
    for (const one of transactions) repeated.push(await repeatable(client, one));
  }
  const indexes = repeated.map(() => random.below(depth)).sort((one, other) => one - other);
  const pairs = repeated.map((transaction, index) => [transaction, indexes[index]]);
  // Callers of hostile contracts have no keys.
  await client.request({ method: "anvil_autoImpersonateAccount", params: [true] } as never);
  await client.request({ method: "anvil_reorg", params: [depth, pairs] } as never);
  await client.request({ method: "anvil_autoImpersonateAccount", params: [false] } as never);
}

/** A transaction as the node takes it again: as it was signed, or, sent in another's name, as a request. */
async function repeatable(client: DevnetClient, transaction: Transaction): Promise<unknown> {
  const { hash, r, from, to, input, value, gas } = transaction;
  if (r !== undefined && BigInt(r) !== 0n) {
    return await client.request({
      method: "eth_getRawTransactionByHash",
      params: [hash],
    } as never);
  }
  return { from, to, input, value: numberToHex(value), gas: numberToHex(gas) };
}

/** The disk that holds the database has no byte left, for as long as a host misbehaves. */
const diskFull: Disturbance = {
  name: "disk full",
  takesDown: true,
  async run({ market: { disk } }) {
    await disk?.fill();
    await delay(faultSeconds * 1_000);
    await disk?.empty();
  },
};

const disturbances: readonly Disturbance[] = [
  killed("indexer of chain 1", /--name indexer-1$/),
  killed("indexer of chain 33139", /--name indexer-33139$/),
  killed("projector", /--name projector$/),
  killed("jobs", /--name jobs$/),
  killed("api", /--name api$/, true),
  databaseKilled,
  databaseRestarted,
  serviceKilled,
  reorg,
  ...nodeMisbehaves,
  ...partnersMisbehave,
];

/** All of them whose name matches, in another order each time round. */
export function* shuffled(
  random: Random,
  { hasDisk, only }: { hasDisk: boolean; only: RegExp },
): Generator<Disturbance> {
  const all = hasDisk ? [...disturbances, diskFull] : disturbances;
  const chosen = all.filter(({ name }) => only.test(name));
  if (chosen.length === 0) throw new Error(`No disturbance is called ${only.source}`);
  for (;;) {
    const left = [...chosen];
    while (left.length > 0) {
      const [one] = left.splice(random.below(left.length), 1);
      if (one !== undefined) yield one;
    }
  }
}
