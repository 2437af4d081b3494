import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Hash } from "viem";
import type { ChainId } from "../chains/index.ts";
import { connect, type DevnetClient } from "./client.ts";

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

const binaryPackage = "@foundry-rs/anvil-linux-amd64";
const startTimeoutMs = 20_000;
const stopTimeoutMs = 5_000;

/** The node as a child process. */
type AnvilProcess = {
  pid: number;
  /** The port it listens on; throws with the node's own words when it does not come up. */
  port(): Promise<number>;
  /** Settles when the process is gone, for whatever reason. */
  exited: Promise<void>;
  end(): Promise<void>;
};

/**
 * The shell becomes the node; another shell waits on a pipe that only this process holds and ends
 * the node when the pipe breaks, so the node does not outlive a killed parent.
 */
const lifeline = '(read -r _ <&3 || kill "$$") >/dev/null 2>&1 & exec "$@" 3<&-';

type Child = ChildProcessByStdio<null, Readable, Readable>;

function spawnAnvil(args: string[]): AnvilProcess {
  const child = spawn("/bin/sh", ["-c", lifeline, "sh", anvilCommand(), ...args], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  }) as Child;
  const { pid } = child;
  if (pid === undefined) throw new Error("A local chain needs /bin/sh, which did not start");
  const complaint = lastWords(child.stderr);
  return {
    pid,
    exited: holdLifeline(child),
    port: () => announcedPort(child, complaint),
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      await exited;
      clearTimeout(late);
    },
  };
}

/** The binary of the npm package, or `anvil` on PATH where npm has none. */
function anvilCommand(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${binaryPackage}/package.json`);
    return join(dirname(manifest), "bin", "anvil");
  } catch {
    return "anvil";
  }
}

function holdLifeline(child: Child): Promise<void> {
  const pipe = child.stdio[3] as Writable;
  pipe.on("error", () => {});
  return new Promise((resolve) => {
    child.once("exit", () => {
      pipe.end("gone\n");
      resolve();
    });
  });
}

function lastWords(stream: Readable): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(-2_000);
  });
  return () => text.trim();
}

function announcedPort(child: Child, complaint: () => string): Promise<number> {
  const onTime = new AbortController();
  const listening = new Promise<number>((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      if (onTime.signal.aborted) return;
      text += chunk;
      const port = /^Listening on .*:(\d+)\n/m.exec(text)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.once("close", (code) => reject(new Error(explain(code, complaint()))));
  });
  const tooLate = delay(startTimeoutMs, undefined, { signal: onTime.signal }).then(() => {
    throw new Error(`anvil did not listen within ${startTimeoutMs / 1000} s. ${complaint()}`);
  });
  return Promise.race([listening, tooLate]).finally(() => onTime.abort());
}

function explain(code: number | null, complaint: string): string {
  if (code !== 127) return `anvil ended at start (exit ${code}). ${complaint}`;
  return (
    `No anvil for ${process.platform}-${process.arch}: npm carries ${binaryPackage} only. ` +
    "Put the anvil of Foundry 1.7.1 on PATH, or name RPC URLs of running chains. " +
    complaint
  );
}

const minWaitMs = 500;
/** Keeping costs the node at most this part of its time, however long the chain grows. */
const maxShare = 1 / 100;

/** Keeps a file equal to the node's state. */
type StateKeeper = {
  /** Writes the state at the end and stops. */
  finish(): Promise<void>;
  /** Stops, the node being gone. */
  abandon(): void;
};

/**
 * Anvil's own `--state` overwrites its file in place, whether or not anything happened. This writes
 * the same dump beside the file and renames it, after a new head only: a kill leaves the previous
 * state, never half of one.
 */
function keepState(client: DevnetClient, stateFile: string): StateKeeper {
  let keptHead: Hash | undefined;
  let running = true;
  let waitMs = minWaitMs;
  let timer: NodeJS.Timeout | undefined;
  let keeping = Promise.resolve();

  const keep = async () => {
    const head = (await client.getBlock()).hash;
    if (head === keptHead) return;
    const startedAt = performance.now();
    await writeWhole(stateFile, Buffer.from((await client.dumpState()).slice(2), "hex"));
    keptHead = head;
    waitMs = Math.max(minWaitMs, (performance.now() - startedAt) / maxShare);
  };
  const schedule = () => {
    timer = setTimeout(() => {
      // What fails here is tried again at the next turn, and reported by `finish` if it stays so.
      keeping = keep()
        .catch(() => {})
        .then(() => (running ? schedule() : undefined));
    }, waitMs);
  };
  const abandon = () => {
    running = false;
    clearTimeout(timer);
  };
  schedule();
  return {
    abandon,
    async finish() {
      if (!running) return;
      abandon();
      await keeping;
      keptHead = undefined;
      await keep();
    },
  };
}

async function writeWhole(file: string, content: Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.next`, content);
  await rename(`${file}.next`, file);
}

/** A kept state in the form `--load-state` reads, to be removed once loaded; undefined when none is kept. */
async function unpackState(
  stateFile: string,
): Promise<{ path: string; remove(): Promise<void> } | undefined> {
  if (!existsSync(stateFile)) return undefined;
  const path = `${stateFile}.loading`;
  await writeFile(path, await promisify(gunzip)(await readFile(stateFile)));
  return { path, remove: () => rm(path, { force: true }) };
}

/**
 * Brings a node that lags behind the clock up to it. A node counts whole seconds from its start or its last set time:
 * when the second turns meanwhile, it is one behind for good, and refuses orders that begin now.
 */
export async function syncWithClock(client: DevnetClient): Promise<void> {
  const ahead = Number(await client.increaseTime({ seconds: 0 }));
  if (ahead < 0) await client.increaseTime({ seconds: -ahead });
}
