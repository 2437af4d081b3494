import { type HomesWatch, watchHomes } from "./homes.ts";
import { migrateAt } from "./migrate-or-wait.ts";
import type { RoleCell, RoleContext, RunningRole, SomeRoleCells } from "./role.ts";
import { stopInTime } from "./stop-in-time.ts";

type RunRole = (context: RoleContext) => Promise<RunningRole>;

type Options = {
  readonly run: RunRole;
  readonly context: RoleContext;
  readonly cells: SomeRoleCells;
  /** The names of the cells that this process works for; absent: all. */
  readonly only?: readonly string[];
  /** Whether it works for a chain before it is there, too, and makes the databases' tables. */
  readonly preparesChains: boolean;
};

/**
 * Runs a role in each cell, for the chains that the cell serves: when these change, it is ended there and started again
 * with the others. A cell without chains has none to work for.
 */
export async function runInCells(options: Options): Promise<RunningRole> {
  const { context, cells, only, preparesChains } = options;
  const ending = new AbortController();
  const signal = AbortSignal.any([context.signal, ending.signal]);
  const worked = cells.filter(({ name }) => only === undefined || only.includes(name));
  // An empty database cannot tell which chains it serves.
  if (preparesChains)
    await Promise.all(
      worked.map(({ config }) => migrateAt(config.database.url, context.logger, signal)),
    );
  const homes = await watchHomes(cells, { ...context, signal });
  const running = worked.map((cell) =>
    runInCell(cell, homes, { run: options.run, context: { ...context, signal }, preparesChains }),
  );
  const finished = Promise.all(running.map((one) => one.finished));
  finished.catch(() => undefined);
  return {
    ready: Promise.all(running.map((one) => one.ready)).then(() => {}),
    failed: finished.then(() => new Promise<never>(() => {})),
    async stop() {
      ending.abort();
      await finished.catch(() => undefined);
      await homes.stop();
    },
  };
}

type CellWork = Pick<Options, "run" | "context" | "preparesChains">;

function runInCell(
  { name, config }: RoleCell,
  homes: HomesWatch,
  { run, context, preparesChains }: CellWork,
): { ready: Promise<void>; finished: Promise<void> } {
  const { signal } = context;
  let onReady = () => {};
  const ready = new Promise<void>((resolve) => {
    onReady = resolve;
  });
  const chainsNow = () => {
    const { serves = [], awaits = [] } = homes.current().get(name) ?? {};
    return preparesChains ? [...serves, ...awaits] : serves;
  };
  const work = async () => {
    while (!signal.aborted) {
      const served = chainsNow();
      const changed = untilChanged(homes, () => `${chainsNow()}` !== `${served}`, signal);
      if (served.length === 0) {
        onReady();
        await changed;
        continue;
      }
      const chains = config.chains.filter(({ chainId }) => served.includes(chainId));
      const role = await run({ ...context, cell: name, config: { ...config, chains } });
      void role.ready.then(onReady, () => {});
      try {
        await Promise.race([changed, role.failed]);
      } catch (error) {
        await stopInTime(() => role.stop(), context.logger);
        throw error;
      }
      await role.stop();
    }
  };
  return { ready, finished: work() };
}

/** Resolves when the chains of a cell are others, or at the signal. */
function untilChanged(
  homes: HomesWatch,
  isChanged: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted || isChanged()) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      forget();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const forget = homes.onChange(() => isChanged() && end());
    signal.addEventListener("abort", end);
  });
}
