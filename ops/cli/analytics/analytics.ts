import type { Command } from "commander";
import { syncClickhouse } from "#jobs/analytics/sync-clickhouse.ts";
import { forgetCopy, readCopyProgress } from "#projections/analytics/copy-source.ts";
import { isLockHeld } from "#projections/log/named-lock.ts";
import { withDatabase } from "../open-database.ts";
import { type JsonFlag, openProgress, print, tableLines } from "../output.ts";

/** `op analytics sync`, `op analytics status` and `op analytics forget` */
export function addAnalytics(program: Command): void {
  const analytics = program
    .command("analytics")
    .description("the copy of the facts and analytics views in ClickHouse");
  analytics
    .command("sync")
    .description("copy what is new, up to the position of the projections")
    .option("--anew", "drop the copy first")
    .action(syncOnce);
  analytics.command("status").description("how far the copy is").action(status);
  analytics
    .command("forget")
    .description("forget a copy whose setting was removed: its metrics and their alert end")
    .action(forget);
}

const setting = "ANALYTICS_CLICKHOUSE_URL";

async function syncOnce({
  anew: isAnew = false,
  json,
}: JsonFlag & { anew?: boolean }): Promise<void> {
  await withDatabase("analytics sync", async ({ db, config, url }) => {
    const { clickhouseUrl, readUrl } = config.analytics;
    if (clickhouseUrl === null) throw new Error(`${setting} is not set: it says where to copy to`);
    const progress = json ? null : openProgress("copying facts");
    const onProgress = ({ position, head }: { position: bigint; head: bigint }) =>
      progress?.report({
        task: "ClickHouse",
        done: Number(position),
        total: Number(head),
        unit: "facts",
      });
    try {
      const done = await syncClickhouse({ clickhouseUrl, db, url, readUrl, isAnew, onProgress });
      progress?.end();
      print(json, done, [
        `the copy is at position ${done.position}, with ${done.facts} more facts`,
      ]);
    } catch (error) {
      progress?.end();
      if (!isLockHeld(error)) throw error;
      throw new Error("another process syncs the copy now", { cause: error });
    }
  });
}

async function status({ json }: JsonFlag): Promise<void> {
  await withDatabase("analytics status", async ({ db, config }) => {
    const { clickhouseUrl, intervalSeconds } = config.analytics;
    const copy = await readCopyProgress(db);
    const row = copy && [
      `${copy.position}`,
      `${copy.behind}`,
      copy.syncedAt?.toISOString() ?? "never",
      clickhouseUrl === null ? "by hand" : `every ${intervalSeconds} s`,
      copy.error ?? "",
    ];
    const head = ["position", "behind", "synced", "runs", "error"];
    print(json, copy, row === null ? ["nothing was synced yet"] : tableLines([head, row]));
  });
}

async function forget({ json }: JsonFlag): Promise<void> {
  await withDatabase("analytics forget", async ({ db, config }) => {
    if (config.analytics.clickhouseUrl !== null) {
      const advice = "remove it and restart the jobs first, or they sync the copy again";
      throw new Error(`${setting} is set: ${advice}`);
    }
    const isForgotten = await forgetCopy(db);
    print(json, { isForgotten }, [isForgotten ? "the copy is forgotten" : "there was no copy"]);
  });
}
