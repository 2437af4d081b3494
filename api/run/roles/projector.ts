import { allProjections } from "../../../projections/all.ts";
import type { Database } from "../../../projections/database.ts";
import type { Target } from "../../../projections/engine/checkpoint.ts";
import { prepareProjections } from "../../../projections/engine/rebuild.ts";
import { readPonderSchema } from "../../../projections/log/recorder-reads.ts";
import { canonicalHashes, openChain } from "../../work/chain/clients.ts";
import { keepProjecting } from "../../work/jobs/project.ts";
import { keepRecording } from "../../work/jobs/record.ts";
import { type Listener, openListener } from "../../work/log-signal/listener.ts";
import { createWake, type Wake } from "../../work/log-signal/wake.ts";
import { type Led, runLedRole } from "./led-role.ts";
import type { RoleContext, Running } from "./role.ts";

/** Ponder's tables → the log → the projections. One process works, others stand by. */
export async function runRole(context: RoleContext): Promise<Running> {
  const connections = 2 + 2 * context.config.chains.length;
  return runLedRole(context, { name: "projector", connections, work });
}

async function work({ context, db, leadership, signal, onReady }: Led): Promise<void> {
  const { config, logger } = context;
  const wakes = new Map(config.chains.map(({ chainId }) => [chainId, createWake()]));
  const projecting = createWake();
  const listener = openListener({
    url: config.database.url,
    channels: ["log"],
    logger,
    onNotify: (channel) => {
      if (channel === "log") projecting.ring();
      else
        for (const [chainId, wake] of wakes)
          if (channel.startsWith(`ponder_${chainId}_`)) wake.ring();
    },
  });
  try {
    const targets = await prepare(context, db);
    await Promise.all([
      keepProjecting({
        db,
        targets,
        wake: projecting,
        logger,
        signal,
        holds: leadership.holds,
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

type Recording = Omit<Led, "onReady"> & {
  wakes: Map<number, Wake>;
  projecting: Wake;
  listener: Listener;
};

/** One recorder a chain: what one chain's node does never holds the other. */
function record(recording: Recording): Promise<void>[] {
  const { context, db, signal, leadership, wakes, projecting, listener } = recording;
  return context.config.chains.map(({ chainId, rpcUrls, finalityBlocks }) => {
    const client = openChain({ chainId, rpcUrls });
    return keepRecording({
      db,
      recording: {
        chainId,
        canonicalHashes: (numbers) => canonicalHashes(client, [...numbers]),
        fence: leadership.fence,
      },
      finalityBlocks,
      wake: wakes.get(chainId) ?? createWake(),
      logger: context.logger,
      signal,
      holds: leadership.holds,
      onAppended: () => projecting.ring(),
      beforePass: async () => {
        const schema = await readPonderSchema(db, chainId);
        if (schema !== null) await listener.listen(`${schema}_live_query`);
      },
    });
  });
}
