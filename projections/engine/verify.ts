import { setTimeout as delay } from "node:timers/promises";
import type { Database, Session } from "../database.ts";
import { alone, besides } from "./beside.ts";
import { type BuildProgress, bringForward, build, fold } from "./build.ts";
import { dropTarget, isOf, readCheckpoints, type Target } from "./checkpoint.ts";
import { type Comparison, compareSchemas } from "./compare.ts";
import type { Projection } from "./projection.ts";
import { compareSample } from "./sample.ts";

export type Verification = Comparison & { projection: string; position: bigint };

type Options = {
  /** Differing rows that are told; all are counted. */
  most: number;
  /** Keys to look at instead of all rows. */
  sample?: number;
  onProgress: (progress: BuildProgress) => void;
};

/** How long a projection may stand elsewhere than what it reads; live ones meet within a tick. */
const MEETING_MS = 30_000;
const LOOK_MS = 100;

/**
 * Derives a projection anew and compares it with the serving tables, both at one position: live ticks may go on. What
 * was derived is dropped afterwards.
 */
export async function verify(
  db: Database,
  projection: Projection,
  options: Options,
): Promise<Verification> {
  const target = { projection, schema: besides(projection.name).verify };
  return await alone(db, projection.name, async () => {
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

async function verifyAll(db: Database, target: Target, options: Options): Promise<Verification> {
  const { name } = target.projection;
  const limit = (await readCheckpoints(db)).get(name)?.position ?? 0n;
  await build(db, target, limit, options.onProgress);
  const reached = (await readCheckpoints(db)).get(name)?.position ?? 0n;
  await bringForward(db, target, reached, options.onProgress);
  return await atOnePosition(db, target.projection, async (session, position) => {
    const after = (await readCheckpoints(session)).get(target.schema)?.position ?? 0n;
    if (after > position) throw new Error(`${name} was taken back while it was verified`);
    await fold(session, target, { after, upTo: position });
    return await compareSchemas(session, { stored: name, derived: target.schema }, options);
  });
}

async function verifySample(db: Database, target: Target, options: Options) {
  return await atOnePosition(db, target.projection, (session, position) =>
    compareSample(session, target, { ...options, position, keys: options.sample ?? 0 }),
  );
}

/** Looks at one snapshot in which the projection stands where everything stands that it reads. */
async function atOnePosition(
  db: Database,
  { name, reads = [] }: Projection,
  look: (session: Session, position: bigint) => Promise<Comparison>,
): Promise<Verification> {
  for (const deadline = Date.now() + MEETING_MS; ; await delay(LOOK_MS)) {
    const seen = await db
      .transaction()
      .setIsolationLevel("repeatable read")
      .execute(async (session): Promise<Verification | string> => {
        const checkpoints = await readCheckpoints(session);
        const position = checkpoints.get(name)?.position ?? 0n;
        const apart = reads.find((one) => checkpoints.get(one)?.position !== position);
        if (apart !== undefined) return `${apart} at ${checkpoints.get(apart)?.position}`;
        return { projection: name, position, ...(await look(session, position)) };
      });
    if (typeof seen !== "string") return seen;
    if (Date.now() > deadline) {
      throw new Error(
        `${name} cannot be compared: it reads ${seen} and stands elsewhere; let a projector run`,
      );
    }
  }
}

async function assertVersion(db: Database, projection: Projection): Promise<void> {
  const stored = (await readCheckpoints(db)).get(projection.name);
  if (stored === undefined) throw new Error(`${projection.name} has no tables yet`);
  if (isOf(stored, projection)) return;
  throw new Error(
    `${projection.name} holds rows of version ${stored.version} or of other parameters, this program derives version ` +
      `${projection.version}: verify it with the program that made them, or rebuild it`,
  );
}
