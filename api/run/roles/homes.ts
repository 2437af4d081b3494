import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { ChainId } from "../../../chains/index.ts";
import { type Database, openDatabase } from "../../../projections/database.ts";
import {
  readArrivingChains,
  readHeldChains,
} from "../../../projections/log/cells/read-held-chains.ts";
import type { RoleCell, SomeRoleCells } from "./role.ts";

/** The chains of each cell, by the cell's name, and those that are being moved to it. */
export type Homes = ReadonlyMap<
  string,
  { readonly serves: readonly ChainId[]; readonly awaits: readonly ChainId[] }
>;

export type HomesWatch = {
  /** As they are now. */
  current(): Homes;
  /** Called after each change. Returns what ends that. */
  onChange(heard: () => void): () => void;
  stop(): Promise<void>;
};

const pollMs = 300;
const retryMs = 1_000;
const logEvery = 10;

/**
 * Which cell serves each chain: the first one while its database has the chain's facts, else the chain's own. Resolves
 * once the databases have told. It is asked again and again while a chain may still be moved.
 */
export async function watchHomes(
  [main, ...others]: SomeRoleCells,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
): Promise<HomesWatch> {
  const ownChains = others.flatMap(({ config }) => config.chains.map(({ chainId }) => chainId));
  const opened = (cell: RoleCell) => ({ cell, db: open(cell, logger) });
  const databases: Opened = [opened(main), ...others.map(opened)];
  const listeners = new Set<() => void>();
  let homes = await readUntilKnown(databases, { logger, signal });
  const ending = new AbortController();
  const poll = async () => {
    while (!ending.signal.aborted) {
      await delay(pollMs, undefined, { signal: ending.signal }).catch(() => {});
      if (ending.signal.aborted || ownChains.every((chain) => !mayMove(homes, chain))) return;
      // While a database is down nothing is moved.
      const next = await readHomes(databases).catch(() => homes);
      if (textOf(next) === textOf(homes)) continue;
      homes = next;
      logger.info({ homes: textOf(homes) }, "databases of chains changed");
      for (const heard of listeners) heard();
    }
  };
  const polling = poll();
  return {
    current: () => homes,
    onChange(heard) {
      listeners.add(heard);
      return () => void listeners.delete(heard);
    },
    async stop() {
      ending.abort();
      await polling;
      await Promise.all(databases.map(({ db }) => db.destroy()));
    },
  };
}

const mayMove = (homes: Homes, chain: ChainId) =>
  [...homes.values()][0]?.serves.includes(chain) === true;

const open = ({ config }: RoleCell, logger: Logger): Database =>
  openDatabase({
    url: config.database.url,
    applicationName: "cells",
    max: 1,
    statementTimeoutMs: 5_000,
    onIdleError: (error) => logger.debug({ err: error }, "database connection lost"),
  });

type OpenedCell = { readonly cell: RoleCell; readonly db: Database };
type Opened = readonly [OpenedCell, ...OpenedCell[]];

async function readHomes([main, ...others]: Opened): Promise<Homes> {
  const own = others.flatMap(({ cell }) => cell.config.chains.map(({ chainId }) => chainId));
  const held = await readHeldChains(main.db, own);
  const all = main.cell.config.chains.map(({ chainId }) => chainId);
  const ofMain = all.filter((chainId) => !own.includes(chainId) || held.has(chainId));
  const entries = await Promise.all(
    others.map(async ({ cell, db }) => {
      const chains = cell.config.chains.map(({ chainId }) => chainId);
      const waiting = chains.filter((chainId) => held.has(chainId));
      const arriving = waiting.length > 0 ? await readArrivingChains(db) : new Set<number>();
      const serves = chains.filter((chainId) => !held.has(chainId));
      const awaits = waiting.filter((chainId) => arriving.has(chainId));
      return [cell.name, { serves, awaits }] as const;
    }),
  );
  return new Map([[main.cell.name, { serves: ofMain, awaits: [] }], ...entries]);
}

/** Databases that do not answer yet, or are not migrated, are waited for: a guess could begin a chain a second time. */
async function readUntilKnown(
  databases: Opened,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
): Promise<Homes> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await readHomes(databases);
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      if (tries % logEvery === 0)
        logger.warn({ reason }, "reading chain databases failed, retrying");
      await delay(retryMs, undefined, { signal });
    }
  }
}

const textOf = (homes: Homes): string =>
  [...homes].map(([name, { serves, awaits }]) => `${name}: ${serves} (${awaits})`).join("; ");
