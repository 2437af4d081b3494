import { allProjections } from "../../../projections/all.ts";
import type { Database } from "../../../projections/database.ts";
import type { Target } from "../../../projections/engine/checkpoint.ts";
import { prepareProjections } from "../../../projections/engine/rebuild.ts";
import { eventsWithTransfers } from "../../../projections/exchanges/exchanges.ts";
import { readPonderSchema } from "../../../projections/log/recorder-reads.ts";
import { bindViews, bindViewsIfStale } from "../../../projections/reads/analytics/bind-views.ts";
import { fetchCanonicalHashes, openChainClient } from "../../background/chain/clients.ts";
import { openTransferReader } from "../../background/chain/fetch-transfers.ts";
import { runProjector } from "../../background/jobs/project.ts";
import { runRecorder } from "../../background/jobs/record.ts";
import { type Listener, openListener } from "../../background/log-signal/listener.ts";
import { createSignal, type Signal } from "../../background/log-signal/signal.ts";
import { openDerivationLog } from "./derivation-log.ts";
import { type LeaderContext, runLeaderRole } from "./leader-role.ts";
import type { RoleContext, RunningRole } from "./role.ts";

/** Ponder's tables → the log → the projections. One process works, others are standbys. */
export async function runRole(context: RoleContext): Promise<RunningRole> {
  const connections = 2 + 2 * context.config.chains.length;
  return runLeaderRole(context, { name: "projector", connections, work });
}

async function work({ context, db, leadership, signal, onReady }: LeaderContext): Promise<void> {
  const { config, logger } = context;
  const chainSignals = new Map(config.chains.map(({ chainId }) => [chainId, createSignal()]));
  const logSignal = createSignal();
  const listener = openListener({
    url: config.database.url,
    channels: ["log"],
    logger,
    onNotify: (channel) => {
      if (channel === "log") return logSignal.notify();
      for (const [chainId, chainSignal] of chainSignals)
        if (channel.startsWith(`ponder_${chainId}_`)) chainSignal.notify();
    },
  });
  try {
    const targets = await prepare(context, db);
    await Promise.all([
      runProjector({
        db,
        targets,
        changeSignal: logSignal,
        logger,
        signal,
        holds: leadership.isHeld,
        onTick: ({ outcome }) => outcome === "idle" && onReady(),
      }),
      ...runRecorders({ context, db, signal, leadership, chainSignals, logSignal, listener }),
    ]);
  } finally {
    await listener.stop();
  }
}

async function prepare({ config, logger }: RoleContext, db: Database): Promise<Target[]> {
  const projections = allProjections({ feeRecipient: config.fees.recipient });
  const log = openDerivationLog(logger);
  await prepareProjections(db, projections, log.onProgress, bindViews).finally(log.end);
  await db.transaction().execute(bindViewsIfStale);
  return projections.map((projection) => ({ projection, schema: projection.name }));
}

type RecorderContext = Omit<LeaderContext, "onReady"> & {
  chainSignals: Map<number, Signal>;
  logSignal: Signal;
  listener: Listener;
};

/** One recorder per chain: a slow node of one chain does not delay another. */
function runRecorders(recorders: RecorderContext): Promise<void>[] {
  const { context, db, signal, leadership, chainSignals, logSignal, listener } = recorders;
  return context.config.chains.map(({ chainId, rpcUrls, finalityBlocks }) => {
    const client = openChainClient({ chainId, rpcUrls });
    return runRecorder({
      db,
      recording: {
        chainId,
        canonicalHashes: (numbers) => fetchCanonicalHashes(client, [...numbers]),
        transfers: openTransferReader(client, eventsWithTransfers()),
        fence: leadership.fence,
      },
      finalityBlocks,
      changeSignal: chainSignals.get(chainId) ?? createSignal(),
      logger: context.logger,
      signal,
      holds: leadership.isHeld,
      onAppended: () => logSignal.notify(),
      beforePass: async () => {
        const schema = await readPonderSchema(db, chainId);
        if (schema !== null) await listener.listen(`${schema}_live_query`);
      },
    });
  });
}
