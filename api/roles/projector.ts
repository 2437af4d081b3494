import { allProjections } from "../../projections/all.ts";
import { type Database, openDatabase } from "../../projections/database.ts";
import type { Target } from "../../projections/engine/checkpoint.ts";
import { prepareProjections } from "../../projections/engine/rebuild.ts";
import { readPonderSchema } from "../../projections/log/recorder-reads.ts";
import { canonicalHashes, openChain } from "../chain/clients.ts";
import { keepProjecting } from "../jobs/project.ts";
import { keepRecording } from "../jobs/record.ts";
import type { RoleContext, Running } from "../role.ts";
import { type Leadership, lead, leaseMs } from "./leader.ts";
import { type Listener, openListener } from "./listener.ts";
import { createWake, type Wake } from "./wake.ts";

/** Ponder's tables → the log → the projections. One process works, others stand by. */
export async function runRole(context: RoleContext): Promise<Running> {
  const { config, logger } = context;
  const db = openDatabase({
    url: config.database.url,
    applicationName: "projector",
    max: 2 + 2 * config.chains.length,
    idleInTransactionTimeoutMs: leaseMs,
    onIdleError: (error) => logger.warn({ err: error }, "a database connection was lost"),
  });
  const ending = new AbortController();
  const signal = AbortSignal.any([context.signal, ending.signal]);
  let report = () => {};
  const ready = new Promise<void>((resolve) => {
    report = resolve;
  });
  const work = run({ context, db, signal, onReady: () => report() });
  const failed = work.then(() => new Promise<never>(() => {}));
  failed.catch(() => undefined);
  return {
    ready: Promise.race([ready, failed]),
    failed,
    async stop() {
      ending.abort();
      await work.catch(() => undefined);
      await db.destroy();
    },
  };
}

type Work = { context: RoleContext; db: Database; signal: AbortSignal; onReady: () => void };

async function run({ context, db, signal, onReady }: Work): Promise<void> {
  const { config, logger } = context;
  const leadership = await lead({ url: config.database.url, role: "projector", logger, signal });
  if (leadership === null) return;
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
  const leading = AbortSignal.any([signal, leadership.signal]);
  const work = async () => {
    const targets = await prepare(context, db);
    await Promise.all([
      keepProjecting({
        db,
        targets,
        wake: projecting,
        logger,
        signal: leading,
        holds: leadership.holds,
        onTick: ({ outcome }) => outcome === "idle" && onReady(),
      }),
      ...record({ context, db, signal: leading, leadership, wakes, projecting, listener }),
    ]);
  };
  try {
    await Promise.race([leadership.lost, work()]);
  } finally {
    await listener.stop();
    await leadership.release();
  }
}

async function prepare({ config, logger }: RoleContext, db: Database): Promise<Target[]> {
  const projections = allProjections({ feeRecipient: config.fees.recipient });
  await prepareProjections(db, projections, ({ projection, position, head, step }) =>
    logger.info(`deriving ${projection}: ${step ?? `${position} of ${head} facts`}`),
  );
  return projections.map((projection) => ({ projection, schema: projection.name }));
}

type Recording = Omit<Work, "onReady"> & {
  leadership: Leadership;
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
