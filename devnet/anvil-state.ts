import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Hash } from "viem";
import type { DevnetClient } from "./client.ts";

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
export function keepState(client: DevnetClient, stateFile: string): StateKeeper {
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
export async function unpackState(
  stateFile: string,
): Promise<{ path: string; remove(): Promise<void> } | undefined> {
  if (!existsSync(stateFile)) return undefined;
  const path = `${stateFile}.loading`;
  await writeFile(path, await promisify(gunzip)(await readFile(stateFile)));
  return { path, remove: () => rm(path, { force: true }) };
}
