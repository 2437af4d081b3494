import type { Address, Hex } from "viem";
import { commonConduit } from "../../abis/deployments.ts";
import { type Anvil, startAnvil } from "../../devnet/anvil.ts";
import { connect } from "../../devnet/client.ts";
import { addressOf } from "../../devnet/contracts/addresses.ts";
import { create } from "../../devnet/deploy.ts";
import { installContracts } from "../../devnet/install.ts";
import type { Observation } from "../../projections/log/append.ts";
import type { Call } from "./ponder-calls.ts";
import { type History, historyOf } from "./ponder-history.ts";

export type MadeChain = {
  anvil: Anvil;
  /** Events of tokens and of the exchange, approvals left out. */
  events: number;
  /** Its signed orders as the log tells of them. */
  orders: Observation[];
  /** The collection with half of what happens. */
  hot: Address;
};

const chainId = 33139;
const blockSeconds = 600;
const callsInBlock = 60;
const eventsInBlock = 105;
/** What follows the last event, so that Ponder holds all of them for final. */
const emptyBlocks = 80;
const collections = ["hot", "first", "second", "third", "fourth", "fifth"].map(
  (name) => `bench ${name}`,
);
/** Sixty of them fit into a block of 30 million. */
const gas: Hex = "0x6ddd0";
const purse: Hex = "0xffffffffffffffffffff";
const wei100Gwei: Hex = "0x174876e800";

/** A local chain of at least so many events, from weeks ago until now. Equal arguments, equal events. */
export async function makeChain(events: number): Promise<MadeChain> {
  const blocks = Math.ceil(events / eventsInBlock) + emptyBlocks + 300;
  const timestamp = Math.floor(Date.now() / 1000) - blocks * blockSeconds;
  const anvil = await startAnvil({ chainId, timestamp });
  try {
    return { anvil, ...(await fill(anvil, timestamp, events)) };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

async function fill(anvil: Anvil, timestamp: number, wanted: number) {
  const [hot, ...others] = await deploy(anvil);
  if (hot === undefined) throw new Error("there is no collection");
  const ask = asker(anvil.rpcUrl);
  await ask([
    { method: "anvil_autoImpersonateAccount", params: [true] },
    { method: "evm_setAutomine", params: [false] },
    { method: "anvil_setBlockTimestampInterval", params: [blockSeconds] },
  ]);
  const history = historyOf({ chainId, hot, others, timestamp });
  await ask(history.people.map((one) => ({ method: "anvil_setBalance", params: [one, purse] })));
  await mineHistory(miner(ask), history, wanted);
  return { events: history.events(), orders: history.orders(), hot };
}

async function deploy(anvil: Anvil): Promise<Address[]> {
  const client = connect(anvil);
  await installContracts(client);
  const royaltyTo = commonConduit.address;
  for (const name of collections) {
    await create(client, name, "Collection", [name, "BENCH", royaltyTo]);
  }
  return collections.map(addressOf);
}

type Mine = (calls: readonly Call[]) => Promise<void>;

/** A block of these calls, sent by who would make them. */
function miner(ask: ReturnType<typeof asker>): Mine {
  const nonces = new Map<Address, number>();
  return async (calls) => {
    if (calls.length > 0)
      await ask(
        calls.map((call) => ({ method: "eth_sendTransaction", params: [sent(call, nonces)] })),
      );
    await ask([{ method: "evm_mine", params: [] }]);
  };
}

async function mineHistory(mine: Mine, history: History, wanted: number): Promise<void> {
  const openings = history.openings();
  for (let at = 0; at < openings.length; at += callsInBlock) {
    await mine(openings.slice(at, at + callsInBlock));
  }
  let mined = Promise.resolve();
  while (history.events() < wanted) {
    // The next block is thought of while the node works on this one.
    const calls = await history.next(callsInBlock);
    await mined;
    mined = mine(calls);
  }
  await mined;
  for (let block = 0; block < emptyBlocks; block += 1) await mine([]);
}

function sent({ from, to, data, value }: Call, nonces: Map<Address, number>) {
  const nonce = nonces.get(from) ?? 0;
  nonces.set(from, nonce + 1);
  return {
    ...{ from, to, data, gas, maxFeePerGas: wei100Gwei, maxPriorityFeePerGas: "0x1" },
    ...{ value: `0x${(value ?? 0n).toString(16)}`, nonce: `0x${nonce.toString(16)}` },
  };
}

type Question = { method: string; params: unknown[] };

/** Many questions in one request. Throws the first error. */
function asker(url: string) {
  return async (questions: readonly Question[]): Promise<void> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(questions.map((question, id) => ({ jsonrpc: "2.0", id, ...question }))),
    });
    const answers = (await response.json()) as { error?: { message: string } }[];
    const refused = answers.find(({ error }) => error !== undefined);
    if (refused !== undefined) throw new Error(`the node refused: ${refused.error?.message}`);
  };
}
