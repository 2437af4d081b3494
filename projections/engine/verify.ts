import { setTimeout as delay } from "node:timers/promises";
import type { Database, Session } from "../log/database.ts";
import { schemaOf } from "../log/versions.ts";
import { applyToTarget, type BuildProgress, build, catchUp } from "./build.ts";
import { dropTarget, isCurrent, readCheckpoints, type Target } from "./checkpoint.ts";
import { type Comparison, compareSchemas } from "./compare.ts";
import { inSnapshot } from "./in-snapshot.ts";
import type { Projection } from "./projection.ts";
import { compareSample } from "./sample.ts";
import { shadowSchemas, withProjectionLock } from "./shadow-schema.ts";

export type Verification = Comparison & { projection: string; position: bigint };

type VerifyOptions = {
  /** Differing rows reported at most; all are counted. */
  maxExamples: number;
  /** Compare only so many keys. */
  sample?: number;
  onProgress: (progress: BuildProgress) => void;
};

/** How long to wait until a projection and those it reads are at one position; live ones are within a tick. */
const SAME_POSITION_TIMEOUT_MS = 30_000;
const POLL_MS = 100;

/**
 * Derives a projection in a shadow schema and compares it with the serving tables at one position, while ticks continue.
 * The shadow schema is dropped afterwards.
 */
export async function verify(
  db: Database,
  projection: Projection,
  options: VerifyOptions,
): Promise<Verification> {
  const target = { projection, schema: shadowSchemas(projection.name).verify };
  return await withProjectionLock(db, projection.name, async () => {
    await assertVersion(db, projection);
    const drop = () => db.transaction().execute((session) => dropTarget(session, target.schema));
    await drop();
    try {
      if (options.sample !== undefined) return await verifySample(db, target, options);
      return await verifyAll(db, target, options);
    } finally {
      await drop();
    }
  });
}

async function verifyAll(
  db: Database,
  target: Target,
  options: VerifyOptions,
): Promise<Verification> {
  const { name } = target.projection;
  const limit = (await readCheckpoints(db)).get(schemaOf(name))?.position ?? 0n;
  await build(db, target, { limit }, options.onProgress);
  const reached = (await readCheckpoints(db)).get(schemaOf(name))?.position ?? 0n;
  await catchUp(db, target, { limit: reached }, options.onProgress);
  return await atOnePosition(db, target.projection, async (session, position) => {
    const after = (await readCheckpoints(session)).get(target.schema)?.position ?? 0n;
    if (after > position) throw new Error(`${name} was rolled back while it was verified`);
    await applyToTarget(session, target, { after, upTo: position });
    return await compareSchemas(
      session,
      { stored: schemaOf(name), derived: target.schema },
      options,
    );
  });
}

async function verifySample(db: Database, target: Target, options: VerifyOptions) {
  return await atOnePosition(db, target.projection, (session, position) =>
    compareSample(session, target, { ...options, position, keys: options.sample ?? 0 }),
  );
}

/** Does work in a snapshot in which the projection and all that it reads are at one position. */
async function atOnePosition(
  db: Database,
  { name, reads = [] }: Projection,
  work: (session: Session, position: bigint) => Promise<Comparison>,
): Promise<Verification> {
  for (const deadline = Date.now() + SAME_POSITION_TIMEOUT_MS; ; await delay(POLL_MS)) {
    const seen = await inSnapshot(db, async (session): Promise<Verification | string> => {
      const checkpoints = await readCheckpoints(session);
      const position = checkpoints.get(schemaOf(name))?.position ?? 0n;
      const behind = reads.find((one) => checkpoints.get(schemaOf(one))?.position !== position);
      if (behind !== undefined)
        return `${behind} is at ${checkpoints.get(schemaOf(behind))?.position ?? 0n}`;
      return { projection: name, position, ...(await work(session, position)) };
    });
    if (typeof seen !== "string") return seen;
    if (Date.now() > deadline) {
      throw new Error(
        `cannot compare ${name}: it is not at the position of a projection it reads (${seen}). Start a projector`,
      );
    }
  }
}

async function assertVersion(db: Database, projection: Projection): Promise<void> {
  const stored = (await readCheckpoints(db)).get(schemaOf(projection.name));
  if (stored === undefined) throw new Error(`${projection.name} has no tables yet`);
  if (isCurrent(stored, projection)) return;
  throw new Error(
    `${projection.name} has tables of version ${stored.version} or of other parameters, this program derives version ` +
      `${projection.version}: verify it with the program that derived them, or rebuild it`,
  );
}
