import { type Command, InvalidArgumentError, Option } from "commander";
import { type Coin, coins } from "../../../../projections/facts/price-ticked.ts";
import { type BackfillProgress, backfillPrices } from "../../../work/prices/backfill-prices.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";

type Options = { type?: Coin; days: number; json?: boolean };

const mostDays = 5_000;

/** `op prices backfill` */
export function addPrices(program: Command): void {
  program
    .command("prices")
    .description("prices of the coins")
    .command("backfill")
    .description("append hourly prices of the last days from the exchanges, where there are none")
    .addOption(new Option("--type <coin>", "one coin alone").choices([...coins]))
    .requiredOption("--days <days>", "how far back", parseDays)
    .option("--json", "for machines")
    .exitOverride()
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
    for (const coin of chosen) {
      const { signal } = new AbortController();
      const work = { db, feeds, coin, days, now: new Date(), signal };
      done.push({ type: coin, ...(await backfillPrices({ ...work, onProgress: show(coin) })) });
    }
    // Hours that no exchange knows may be older than the coin; when nothing at all came, something is wrong.
    if (done.some(isFailed)) process.exitCode = 1;
    print(json, { prices: done }, done.map(lineOf));
  });
}

const isFailed = ({ appended, missing, failures }: BackfillProgress): boolean =>
  appended === 0 && missing > 0 && failures.length > 0;

function show(coin: Coin) {
  return ({ hours, held, appended, missing }: BackfillProgress) => {
    if (!process.stderr.isTTY) return;
    process.stderr.write(`\r\u001b[K${coin}: ${held + appended + missing} of ${hours} hours`);
  };
}

function lineOf({ type, appended, held, missing, failures }: { type: Coin } & BackfillProgress) {
  const without = missing === 0 ? "" : `, ${missing} on which too few exchanges agree`;
  const wrong = failures.length === 0 ? "" : ` (${failures.join("; ")})`;
  return `${type}: ${appended} hourly prices appended, ${held} were there${without}${wrong}`;
}
