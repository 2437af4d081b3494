import type { Logger } from "pino";
import type { ChainId } from "../../../abis/deployments.ts";
import type { Database } from "../../../projections/database.ts";
import { isRejection } from "../../../projections/domain/rejection.ts";
import { countSkipped } from "../../../projections/partner-sync/count-skipped.ts";
import { distrust } from "../../../projections/partner-sync/move-collection.ts";
import { readWatchedSlugs } from "../../../projections/partner-sync/read-watched.ts";
import { createHeardInbox, type HeardInbox } from "../marketplaces/heard-inbox.ts";
import type { Partner, PartnerStream, Skipped, StreamConnection } from "../marketplaces/partner.ts";
import { readHeard } from "../marketplaces/read-heard.ts";
import { syncTimes } from "../marketplaces/sync-step.ts";
import { pause, restAfterFailures } from "./rest-after-failures.ts";

/** Times in milliseconds. */
const usual = {
  /** Orders that wait to be read; what comes beyond is left to the passes. */
  atMost: 1_000,
  /** Between two looks at which collections are watched. */
  watchMs: 5_000,
  /** After which a key that was refused is tried again. */
  refusedMs: 600_000,
  /** A connection that held so long was a good one: pauses begin anew. */
  provenMs: 60_000,
  /** Pauses differ by up to so much, so that those who were cut off together part. */
  spreadMs: 1_000,
  noteMs: 1_000,
};

export type HearingLimits = typeof usual;

type Work = {
  db: Database;
  partner: Partner;
  /** The chains served. */
  chainIds: readonly ChainId[];
  now: () => Date;
  onSkipped: (skipped: readonly Skipped[]) => void;
  limits?: Partial<HearingLimits>;
  logger: Logger;
  signal: AbortSignal;
};

type Listening = Omit<Work, "limits"> & {
  stream: PartnerStream;
  inbox: HeardInbox;
  limits: HearingLimits;
};

/**
 * Listens to what a partner tells of listings, and reads those it tells of. Passes find whatever is not heard, so what
 * may have been missed makes a full one due. Returns at once where there is no stream.
 */
export async function hearPartner(work: Work): Promise<void> {
  const { stream } = work.partner;
  if (stream === undefined) return;
  const limits = { ...usual, ...work.limits };
  const listening = { ...work, stream, limits, inbox: createHeardInbox(limits.atMost) };
  await Promise.all([listen(listening), readAll(listening), keepNotes(listening)]);
}

async function listen(work: Listening): Promise<void> {
  const { partner, limits, now, logger, signal } = work;
  const { name } = partner;
  let failures = 0;
  let told = "";
  let missed: ReadonlySet<string> = new Set();
  while (!signal.aborted) {
    const connection = await work.stream.connect(work.inbox.ear);
    if (isRejection(connection)) {
      failures += 1;
      if (told !== connection.message)
        logger.warn(`${name} is not listened to: ${connection.message}`);
      told = connection.message;
      if (connection.rejected === "key_refused") await pause(limits.refusedMs, signal);
      else await restAtRandom(work, failures);
      continue;
    }
    told = "";
    const since = now().getTime();
    logger.info(`${name} is listened to`);
    missed = await follow(work, connection, missed);
    if (signal.aborted) return;
    failures = now().getTime() - since >= limits.provenMs ? 1 : failures + 1;
    logger.warn(`the connection over which ${name} is listened to has ended, connecting again`);
    await restAtRandom(work, failures);
  }
}

async function restAtRandom({ limits, signal }: Listening, failures: number): Promise<void> {
  await pause(Math.random() * limits.spreadMs, signal);
  await restAfterFailures(failures, signal);
}

/** Watches what is to be watched until the connection ends; returns it. `missed`: what was watched over the one before. */
async function follow(
  { db, partner, chainIds, inbox, limits, logger, signal }: Listening,
  connection: StreamConnection,
  missed: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const ending = new AbortController();
  void connection.ended.then(() => ending.abort());
  const until = AbortSignal.any([signal, ending.signal]);
  let watched = missed;
  let pending = missed;
  while (!until.aborted) {
    try {
      watched = await readWatchedSlugs(db, partner.name, chainIds);
      connection.watch(watched);
      for (const slug of pending) inbox.ear.onMissed(slug);
      pending = new Set();
    } catch (error) {
      if (!until.aborted) logger.error({ err: error }, "what to listen to is not known");
    }
    await pause(limits.watchMs, until);
  }
  connection.close();
  return watched;
}

async function readAll(work: Listening): Promise<void> {
  const { inbox, partner, logger, signal } = work;
  let failures = 0;
  while (!signal.aborted) {
    const heard = inbox.take();
    if (heard === null) {
      await inbox.arrival(signal);
      continue;
    }
    try {
      failures = (await readHeard(work, heard)) === "failed" ? failures + 1 : 0;
    } catch (error) {
      failures += 1;
      inbox.ear.onMissed(heard.slug);
      if (!signal.aborted)
        logger.error({ err: error }, `a listing of ${partner.name} heard of is not taken in`);
    }
    if (failures > 0) await restAfterFailures(failures, signal);
  }
}

/** Tells what could not be read, and makes passes due over what may have been missed. */
async function keepNotes(work: Listening): Promise<void> {
  const { db, partner, inbox, limits, now, logger, signal } = work;
  while (!signal.aborted) {
    await pause(limits.noteMs, signal);
    const { missed, skipped } = inbox.takeNotes();
    work.onSkipped(skipped);
    try {
      await countSkipped(db, { marketplace: partner.name }, skipped, now());
      const readBefore = new Date(now().getTime() - syncTimes.fullMs);
      if (missed.length > 0) await distrust(db, partner.name, missed, { now: now(), readBefore });
    } catch (error) {
      for (const slug of missed) inbox.ear.onMissed(slug);
      if (!signal.aborted) logger.error({ err: error }, "what was missed is not noted");
    }
  }
}
