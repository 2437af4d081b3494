import { once } from "node:events";
import { openChain } from "../chain/clients.ts";
import { keepDescribing } from "../jobs/keep-describing.ts";
import { registerCurated } from "../jobs/register-curated.ts";
import type { RoleContext, Running } from "../role.ts";
import { type Led, runLedRole } from "./led-role.ts";
import { openListener } from "./listener.ts";
import { createWake } from "./wake.ts";

/** Observations the service makes by itself: curated collections, contracts' names. One process works, others stand by. */
export async function runRole(context: RoleContext): Promise<Running> {
  const connections = 2 + context.config.chains.length;
  return runLedRole(context, { name: "jobs", connections, work });
}

async function work({ context, db, signal, onReady }: Led): Promise<void> {
  const { config, logger } = context;
  const chains = config.chains.map((chain) => ({ ...chain, wake: createWake() }));
  const listener = openListener({
    url: config.database.url,
    channels: ["projected"],
    logger,
    onNotify: () => {
      for (const { wake } of chains) wake.ring();
    },
  });
  try {
    const served = new Set<number>(chains.map(({ chainId }) => chainId));
    const curated = config.curated.collections.filter(({ chainId }) => served.has(chainId));
    const registered = await registerCurated(db, curated, new Date());
    if (registered > 0) logger.info(`registered ${registered} curated collections`);
    onReady();
    await Promise.race([
      // A chain may take long to answer; what it says after the end is not waited for.
      aborted(signal),
      Promise.all(
        chains.map(({ wake, ...chain }) =>
          keepDescribing({ db, client: openChain(chain), wake, logger, signal }),
        ),
      ),
    ]);
  } finally {
    await listener.stop();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
