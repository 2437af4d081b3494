import type { Address, Hex } from "viem";
import { commonConduit } from "#abis/deployments.ts";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect } from "#devnet/client.ts";
import { addressOf } from "#devnet/contracts/addresses.ts";
import { create } from "#devnet/deploy.ts";
import { installContracts } from "#devnet/install.ts";
import type { Observation } from "#projections/log/append.ts";
import type { Call } from "./calls.ts";
import { type History, historyOf } from "./history.ts";

export type GeneratedChain = {
  anvil: Anvil;
  /** Events of tokens and of the exchange, without approvals. */
  events: number;
  /** Its signed orders as facts. */
  orders: Observation[];
  /** The collection with half of the events. */
  hot: Address;
};

const chainId = 33139;
const blockSeconds = 600;
const callsInBlock = 60;
const eventsInBlock = 105;
/** Blocks after the last event, so that Ponder considers all events final. */
const emptyBlocks = 80;
const collections = ["hot", "first", "second", "third", "fourth", "fifth"].map(
  (name) => `bench ${name}`,
);
/** Gas limit per call: sixty of them fit into a block of 30 million. */
const gas: Hex = "0x6ddd0";
const initialBalance: Hex = "0xffffffffffffffffffff";
const wei100Gwei: Hex = "0x174876e800";

/** A local chain with at least `events` events, from weeks ago until now. Equal arguments give equal events. */
export async function generateChain(events: number): Promise<GeneratedChain> {
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
  const sendRpc = openRpc(anvil.rpcUrl);
  await sendRpc([
    { method: "anvil_autoImpersonateAccount", params: [true] },
    { method: "evm_setAutomine", params: [false] },
    { method: "anvil_setBlockTimestampInterval", params: [blockSeconds] },
  ]);
  const history = historyOf({ chainId, hot, others, timestamp });
  await sendRpc(
    history.people.map((one) => ({ method: "anvil_setBalance", params: [one, initialBalance] })),
  );
  await mineHistory(miner(sendRpc), history, wanted);
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

/** Mines a block with these calls. */
function miner(sendRpc: ReturnType<typeof openRpc>): Mine {
  const nonces = new Map<Address, number>();
  return async (calls) => {
    if (calls.length > 0)
      await sendRpc(
        calls.map((call) => ({
          method: "eth_sendTransaction",
          params: [transactionOf(call, nonces)],
        })),
      );
    await sendRpc([{ method: "evm_mine", params: [] }]);
  };
}

async function mineHistory(mine: Mine, history: History, wanted: number): Promise<void> {
  const setupCalls = history.setupCalls();
  for (let at = 0; at < setupCalls.length; at += callsInBlock) {
    await mine(setupCalls.slice(at, at + callsInBlock));
  }
  let mined = Promise.resolve();
  while (history.events() < wanted) {
    // The next block is composed while the node mines this one.
    const calls = await history.next(callsInBlock);
    await mined;
    mined = mine(calls);
  }
  await mined;
  for (let block = 0; block < emptyBlocks; block += 1) await mine([]);
}

function transactionOf({ from, to, data, value }: Call, nonces: Map<Address, number>) {
  const nonce = nonces.get(from) ?? 0;
  nonces.set(from, nonce + 1);
  return {
    ...{ from, to, data, gas, maxFeePerGas: wei100Gwei, maxPriorityFeePerGas: "0x1" },
    ...{ value: `0x${(value ?? 0n).toString(16)}`, nonce: `0x${nonce.toString(16)}` },
  };
}

type RpcCall = { method: string; params: unknown[] };

/** Sends calls as one batch. Throws the first error. */
function openRpc(url: string) {
  return async (calls: readonly RpcCall[]): Promise<void> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: "2.0", id, ...call }))),
    });
    const answers = (await response.json()) as { error?: { message: string } }[];
    const failed = answers.find(({ error }) => error !== undefined);
    if (failed !== undefined)
      throw new Error(`the node returned an error: ${failed.error?.message}`);
  };
}
