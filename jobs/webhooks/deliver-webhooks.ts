import type { Logger } from "pino";
import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { FeedSource } from "#projections/activity/read-feed.ts";
import type { Database } from "#projections/log/database.ts";
import type { Job } from "../runner/job.ts";
import { runEach, runJobs } from "../runner/run-jobs.ts";
import type { Signal } from "../runner/signals.ts";
import { deliverTo, type RetryTimes, usualRetries, type WebhookEvents } from "./courier.ts";
import { type DueWebhook, readDue, readDueNames } from "./read-due.ts";
import { openTryRecorder, trimTries } from "./record-tries.ts";
import { openSender, type SenderOptions } from "./send-message.ts";

type DeliveryOptions = {
  /** Connections of its own: as many are used as there are. */
  readonly db: Database;
  /** The chains served. */
  readonly chainIds: readonly ChainId[];
  /** By which this market's sales are known. */
  readonly feeRecipient: Address;
  /** The events of a chain and delivery, as they are sent. */
  readonly openEvents: (options: {
    readonly source: FeedSource;
    readonly logger: Logger;
    readonly signal: AbortSignal;
  }) => WebhookEvents;
  /** Notified when the projections have advanced. */
  readonly projected: Pick<Signal, "wait">;
  readonly sending?: SenderOptions;
  readonly retries?: RetryTimes;
  readonly now: () => Date;
  readonly logger: Logger;
};

const trimMs = 60_000;

/** Sends the feed's events to webhooks, and keeps the log of it short. */
export function webhookDeliveries(options: DeliveryOptions): Job[] {
  const { db, now } = options;
  return [
    // One run is all deliveries of the process: each webhook waits for its own receiver alone.
    { name: "webhook deliveries", run: (signal) => deliver(options, signal) },
    {
      name: "webhook log",
      every: trimMs,
      async run() {
        await trimTries(db, now());
        return undefined;
      },
    },
  ];
}

async function deliver(options: DeliveryOptions, signal: AbortSignal): Promise<undefined> {
  const { db, chainIds, projected, retries = usualRetries, now, logger } = options;
  const ending = new AbortController();
  const sources = openSources(options, AbortSignal.any([signal, ending.signal]));
  const shared = { sender: openSender({ now, ...options.sending }), recorder: openTryRecorder(db) };
  const runJob = (job: Job, until: AbortSignal) => runJobs(job, { logger, signal: until });
  const passOn = async () => {
    sources.notify();
    return undefined;
  };
  const news = { name: "webhook news", wakesOn: projected, run: passOn };
  const passingOn = runJob(news, ending.signal);
  try {
    await runEach({
      name: "webhooks",
      readNames: () => readDueNames(db, chainIds),
      async run(name, until) {
        const webhook = await readDue(db, name);
        if (webhook === null) return;
        const parts = { ...shared, source: sources.of(webhook), retries, now };
        await deliverTo(webhook, parts, until);
      },
      runJob,
      signal,
    });
  } finally {
    ending.abort();
    await Promise.all([passingOn, sources.stopped(), shared.sender.close()]);
  }
  return undefined;
}

/** A source for each chain and delivery that a webhook asks for. */
function openSources(
  { db, feeRecipient, openEvents, logger }: DeliveryOptions,
  signal: AbortSignal,
) {
  const opened = new Map<string, WebhookEvents>();
  return {
    of({ chainId, delivery }: DueWebhook): WebhookEvents {
      const name = `${chainId} ${delivery}`;
      const known = opened.get(name);
      if (known !== undefined) return known;
      const source = { db, chainIds: [chainId], feeRecipient, delivery };
      const made = openEvents({ source, logger, signal });
      opened.set(name, made);
      return made;
    },
    notify() {
      for (const one of opened.values()) one.notify();
    },
    async stopped() {
      await Promise.all([...opened.values()].map(({ stopped }) => stopped));
    },
  };
}
