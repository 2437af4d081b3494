import type { ChainId } from "../chains/index.ts";
import { spawnAnvil } from "./anvil-process.ts";
import { keepState, unpackState } from "./anvil-state.ts";
import { connect } from "./client.ts";
import { syncWithClock } from "./clock.ts";

/**
 * States of past blocks that a node can be asked for. It would write older ones below the user's home, gigabytes an hour,
 * and leave them there.
 */
const keptStates = 200;

/** A running local chain. It mines one block per transaction by default. */
export type Anvil = {
  chainId: ChainId;
  rpcUrl: string;
  wsUrl: string;
  pid: number;
  /** Settles when the node is gone, for whatever reason. */
  exited: Promise<void>;
  /** Keeps the state, when a file was named for it, and ends the node. */
  stop(): Promise<void>;
};

type AnvilOptions = {
  chainId: ChainId;
  /** A free one when absent or 0. */
  port?: number;
  /** Blocks, logs and receipts are kept here: at the stop, and soon after each head for the case of a kill. */
  stateFile?: string;
  /** Of the genesis block, unix seconds; a kept chain has its own and goes on at the present time. */
  timestamp?: number;
  /** `safe` lags this many blocks behind `latest`, `finalized` twice as many. */
  slotsInAnEpoch?: number;
};

export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { chainId, stateFile } = options;
  const kept = stateFile === undefined ? undefined : await unpackState(stateFile);
  const node = spawnAnvil(argumentsOf(options, kept?.path));
  try {
    const address = `127.0.0.1:${await node.port()}`;
    const rpcUrl = `http://${address}`;
    const client = connect({ chainId, rpcUrl });
    assertChainId(chainId, await client.getChainId());
    if (options.timestamp === undefined) await syncWithClock(client);
    const keeper = stateFile === undefined ? undefined : keepState(client, stateFile);
    void node.exited.then(() => keeper?.abandon());
    const stop = async () => {
      await keeper?.finish().finally(node.end);
      await node.end();
    };
    return { chainId, rpcUrl, wsUrl: `ws://${address}`, pid: node.pid, exited: node.exited, stop };
  } catch (error) {
    await node.end();
    throw error;
  } finally {
    await kept?.remove();
  }
}

function argumentsOf(options: AnvilOptions, loadFile: string | undefined): string[] {
  const { chainId, port = 0, timestamp, slotsInAnEpoch } = options;
  const genesis = timestamp === undefined ? [] : ["--timestamp", `${timestamp}`];
  const start = loadFile === undefined ? genesis : ["--load-state", loadFile];
  return [
    ...["--chain-id", `${chainId}`, "--host", "127.0.0.1", "--port", `${port}`],
    ...["--prune-history", `${keptStates}`],
    ...start,
    ...(slotsInAnEpoch === undefined ? [] : ["--slots-in-an-epoch", `${slotsInAnEpoch}`]),
  ];
}

/** Another program may hold the port that was asked for. */
function assertChainId(expected: ChainId, answered: number): void {
  if (answered !== expected)
    throw new Error(`The local chain ${expected} answers with chain id ${answered}`);
}
