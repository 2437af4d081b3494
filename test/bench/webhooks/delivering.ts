import { argv } from "node:process";
import { pino } from "pino";
import { openWebhookEvents } from "#api/webhooks/webhook-events.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { createThrottledSignal, openListener } from "#jobs/runner/signals.ts";
import { webhookDeliveries } from "#jobs/webhooks/deliver-webhooks.ts";
import { openDatabase } from "#projections/log/database.ts";

const [, , url = "", ...allowedOrigins] = argv;
const logger = pino({ level: "warn" });
const { signal } = new AbortController();
/** Connections and pauses are those of the jobs' role. */
const db = openDatabase({ url, applicationName: "webhooks", max: 3, onIdleError: () => {} });
const projected = createThrottledSignal(20);
openListener({ url, channels: ["projected"], logger, onNotify: () => projected.notify() });
const jobs = webhookDeliveries({
  db,
  chainIds: [33139],
  feeRecipient: "0x00000000000000000000000000000000000fee00",
  openEvents: openWebhookEvents,
  projected,
  sending: { allowedOrigins },
  now: () => new Date(),
  logger,
});
void runJobs(jobs, { logger, signal });
process.send?.("ready");
process.on("disconnect", () => process.exit(0));
