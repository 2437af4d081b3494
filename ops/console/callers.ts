import { sql } from "kysely";
import { html } from "#api/pages/kit/html.ts";
import { formatCount, moment } from "#api/pages/kit/number.ts";
import { panel, table } from "#api/pages/kit/panel.ts";
import { plainText } from "#api/pages/kit/text.ts";
import type { Database } from "#projections/log/database.ts";
import type { ConsoleContent, ConsoleVisit } from "./page.ts";

const most = 50;

/** Rate limits and who uses most of them. */
export async function callersPage({ db, config, now }: ConsoleVisit): Promise<ConsoleContent> {
  const [busy, usage] = await Promise.all([readBusyCallers(db, most), readKeyUsage(db, most)]);
  const time = now();
  const { keyless, instant, permanent, account } = config.access.limits;
  const limits: [string, number, string][] = [
    ["an address without a key", keyless, "RATE_LIMIT_KEYLESS"],
    ["an instant key", instant, "RATE_LIMIT_INSTANT"],
    ["a permanent key", permanent, "RATE_LIMIT_KEY"],
    ["an account of the account API", account, "RATE_LIMIT_ACCOUNT"],
  ];
  const body = [
    html`<h1>Callers</h1>`,
    panel({
      id: "limits",
      title: "Limits",
      body: table(
        limits,
        [
          { head: "Caller", cell: ([caller]) => caller, isHead: true },
          {
            head: "Requests a minute",
            cell: ([, limit]) => (limit === 0 ? "unlimited" : limit),
            isNumber: true,
          },
          { head: "Setting", cell: ([, , setting]) => html`<code>${setting}</code>` },
        ],
        { caption: "Limits" },
      ),
    }),
    panel({
      id: "busy",
      title: "Busiest in this minute",
      about: "Media and pages are counted apart from requests. A key is shown by its hash.",
      body: table(
        busy,
        [
          {
            head: "Caller",
            cell: ({ caller }) => html`<code>${plainText(caller, 60)}</code>`,
            isHead: true,
          },
          { head: "Used", cell: ({ used }) => formatCount(used), isNumber: true },
          { head: "Of", cell: ({ perMinute }) => formatCount(perMinute), isNumber: true },
          {
            head: "State",
            cell: ({ used, perMinute }) =>
              used >= perMinute
                ? html`<span class="mark bad">limited</span>`
                : html`<span class="mark good">admitted</span>`,
          },
          { head: "Minute began", cell: ({ beganAt }) => moment(beganAt.toISOString(), time) },
        ],
        { caption: "Busiest callers", empty: "Nobody asked in the last minute." },
      ),
    }),
    panel({
      id: "keys",
      title: "Keys by requests",
      about: "Numbers are those of op keys list.",
      body: table(
        usage,
        [
          { head: "Key", cell: ({ keyId }) => keyId, isHead: true },
          { head: "Today (UTC)", cell: ({ today }) => today.toString(), isNumber: true },
          { head: "Yesterday", cell: ({ yesterday }) => yesterday.toString(), isNumber: true },
        ],
        { caption: "Keys by requests", empty: "No key was used today or yesterday." },
      ),
    }),
  ];
  return { title: "Callers", body };
}

type BusyCaller = { caller: string; used: number; perMinute: number; beganAt: Date };

/** Who used most of the present minute: addresses, and keys by the start of their hash. */
async function readBusyCallers(db: Database, most: number): Promise<BusyCaller[]> {
  const { rows } = await sql<BusyCaller>`
    select caller, used, per_minute as "perMinute", began_at as "beganAt" from access.minute
    where began_at > now() - interval '1 minute' order by used desc, caller limit ${most}`.execute(
    db,
  );
  return rows;
}

type KeyUsage = { keyId: number; today: bigint; yesterday: bigint };

/** The keys with most requests of today and yesterday, UTC. */
async function readKeyUsage(db: Database, most: number): Promise<KeyUsage[]> {
  const { rows } = await sql<KeyUsage>`
    select key_id as "keyId", coalesce(sum(requests) filter (where u.day = current.day), 0)::bigint as today,
           coalesce(sum(requests) filter (where u.day = current.day - 1), 0)::bigint as yesterday
    from access.usage u cross join (select (now() at time zone 'utc')::date as day) current
    where u.day >= current.day - 1
    group by 1 order by sum(requests) desc, 1 limit ${most}`.execute(db);
  return rows;
}
