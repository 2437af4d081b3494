import { type Command, InvalidArgumentError, Option } from "commander";
import { type Coin, coinSymbols, coins } from "#chains/coins.ts";
import { type BackfillProgress, backfillPrices } from "#jobs/prices/backfill-prices.ts";
import { withDatabase } from "./open-database.ts";
import { openProgress, type Progress, print } from "./output.ts";

type Options = { type?: Coin; days: number; json?: boolean };

const mostDays = 5_000;

/** `op prices backfill` */
export function addPrices(program: Command): void {
  program
    .command("prices")
    .description(`prices of ${coinSymbols.join(" and ")}`)
    .command("backfill")
    .description("append missing hourly prices of the last days from the exchanges")
    .addOption(new Option("--type <coin>", "only this coin").choices([...coins]))
    .requiredOption("--days <days>", "number of days to look back", parseDays)
    .action(backfill);
}

function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d{1,4}$/.test(text) && days >= 1 && days <= mostDays) return days;
  throw new InvalidArgumentError(`expected 1 to ${mostDays}`);
}

async function backfill({ type, days, json }: Options): Promise<void> {
  const chosen = type === undefined ? coins : [type];
  await withDatabase("prices backfill", async ({ db, config }) => {
    const { feeds } = config.prices;
    const done: ({ type: Coin } & BackfillProgress)[] = [];
    const progress = openProgress("fetching prices");
    for (const coin of chosen) {
      const { signal } = new AbortController();
      const work = { db, feeds, coin, days, now: new Date(), signal };
      const onProgress = reportHours(progress, coin);
      const result = await backfillPrices({ ...work, onProgress }).catch((error: unknown) => {
        progress.end();
        throw error;
      });
      progress.done(coin);
      done.push({ type: coin, ...result });
    }
    progress.end();
    // Hours without a price may be older than the coin. No price at all, with failures, is an error.
    if (done.some(isFailed)) process.exitCode = 1;
    print(json, { prices: done }, done.map(lineOf));
  });
}

const isFailed = ({ appended, missing, failures }: BackfillProgress): boolean =>
  appended === 0 && missing > 0 && failures.length > 0;

const reportHours =
  (progress: Progress, coin: Coin) =>
  ({ hours, held, appended, missing }: BackfillProgress): void =>
    progress.report({ task: coin, done: held + appended + missing, total: hours, unit: "hours" });

function lineOf({ type, appended, held, missing, failures }: { type: Coin } & BackfillProgress) {
  const without = missing === 0 ? "" : `, ${missing} without agreement of two exchanges`;
  const wrong = failures.length === 0 ? "" : ` (${failures.join("; ")})`;
  return `${type}: ${appended} hourly prices appended, ${held} already recorded${without}${wrong}`;
}
