import { allProjections } from "../../../projections/all.ts";
import type { Database } from "../../../projections/database.ts";
import type { Target } from "../../../projections/engine/checkpoint.ts";
import { prepareProjections } from "../../../projections/engine/rebuild.ts";
import { readPonderSchema } from "../../../projections/log/recorder-reads.ts";
import { canonicalHashes, openChain } from "../../work/chain/clients.ts";
import { runProjector } from "../../work/jobs/project.ts";
import { runRecorder } from "../../work/jobs/record.ts";
import { type Listener, openListener } from "../../work/log-signal/listener.ts";
import { createSignal, type Signal } from "../../work/log-signal/signal.ts";
import { type LeaderContext, runLeaderRole } from "./leader-role.ts";
import type { RoleContext, Running } from "./role.ts";

/** Ponder's tables → the log → the projections. One process works, others stand by. */
export async function runRole(context: RoleContext): Promise<Running> {
  const connections = 2 + 2 * context.config.chains.length;
  return runLeaderRole(context, { name: "projector", connections, work });
}

async function work({ context, db, leadership, signal, onReady }: LeaderContext): Promise<void> {
  const { config, logger } = context;
  const wakes = new Map(config.chains.map(({ chainId }) => [chainId, createSignal()]));
  const projecting = createSignal();
  const listener = openListener({
    url: config.database.url,
    channels: ["log"],
    logger,
    onNotify: (channel) => {
      if (channel === "log") projecting.notify();
      else
        for (const [chainId, wake] of wakes)
          if (channel.startsWith(`ponder_${chainId}_`)) wake.notify();
    },
  });
  try {
    const targets = await prepare(context, db);
    await Promise.all([
      runProjector({
        db,
        targets,
        changeSignal: projecting,
        logger,
        signal,
        holds: leadership.isHeld,
        onTick: ({ outcome }) => outcome === "idle" && onReady(),
      }),
      ...record({ context, db, signal, leadership, wakes, projecting, listener }),
    ]);
  } finally {
    await listener.stop();
  }
}

async function prepare({ config, logger }: RoleContext, db: Database): Promise<Target[]> {
  const projections = allProjections({ feeRecipient: config.fees.recipient });
  await prepareProjections(db, projections, ({ projection, position, head, step }) =>
    logger.info(`deriving ${projection}: ${step ?? `${position} of ${head} facts`}`),
  );
  return projections.map((projection) => ({ projection, schema: projection.name }));
}

type Recording = Omit<LeaderContext, "onReady"> & {
  wakes: Map<number, Signal>;
  projecting: Signal;
  listener: Listener;
};

/** One recorder a chain: what one chain's node does never holds the other. */
function record(recording: Recording): Promise<void>[] {
  const { context, db, signal, leadership, wakes, projecting, listener } = recording;
  return context.config.chains.map(({ chainId, rpcUrls, finalityBlocks }) => {
    const client = openChain({ chainId, rpcUrls });
    return runRecorder({
      db,
      recording: {
        chainId,
        canonicalHashes: (numbers) => canonicalHashes(client, [...numbers]),
        fence: leadership.fence,
      },
      finalityBlocks,
      changeSignal: wakes.get(chainId) ?? createSignal(),
      logger: context.logger,
      signal,
      holds: leadership.isHeld,
      onAppended: () => projecting.notify(),
      beforePass: async () => {
        const schema = await readPonderSchema(db, chainId);
        if (schema !== null) await listener.listen(`${schema}_live_query`);
      },
    });
  });
}
