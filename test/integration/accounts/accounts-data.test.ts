import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  type Browser,
  type Desk,
  linkOf,
  newEmail,
  openBrowser,
  openDesk,
  password,
  secretIn,
  signIn,
  signUp,
  statusWith,
} from "./accounts-fixture.ts";

const start = new Date("2026-03-10T12:00:00.000Z");

let database: TestDatabase;
let desk: Desk;
let clock = start;

beforeAll(async () => {
  database = await createDatabase();
  desk = await openDesk({ databaseUrl: database.url, clock: () => clock });
});
beforeEach(() => {
  clock = start;
});
afterAll(async () => {
  await desk?.close();
  await database?.drop();
});

const subjectsTo = (email: string) =>
  desk.mails.filter(({ to }) => to === email).map(({ subject }) => subject);

/** An account with a row in each table that is about accounts. */
async function fullAccount() {
  const browser = await signUp(desk);
  const { email } = browser;
  const key = secretIn(await browser.post("/developers/keys", { name: "bot" }), "live");
  const clientKey = secretIn(await browser.post("/developers/client-key"), "client");
  const issued = await desk.tokens.issue({ email, clientKey }, "10.3.0.1");
  if ("rejected" in issued) throw new Error(issued.message);
  await statusWith(desk, key);
  await desk.flushUsage();
  await browser.post("/developers/account/second-factor");
  await openBrowser(desk).post("/developers/forgot", { email });
  await sql`
    insert into access.recovery_code (account_id, hash)
    select id, sha256('a') from access.account where email = ${email}`.execute(database.db);
  await sql`
    insert into access.pending_sign_in (hash, account_id, expires_at)
    select sha256(email::bytea), id, now() from access.account where email = ${email}`.execute(
    database.db,
  );
  await sql`
    insert into access.passkey (account_id, credential_id, public_key, counter, transports, name, created_at)
    select id, email, '', 0, '{}', 'key', now() from access.account where email = ${email}`.execute(
    database.db,
  );
  await sql`
    insert into access.wallet (account_id, address, created_at)
    select id, '0x' || encode(substr(sha256(email::bytea), 1, 20), 'hex'), now()
    from access.account where email = ${email}`.execute(database.db);
  await sql`
    with hook as (
      insert into access.webhook (account_id, url, chain_id, delivery, secret, created_at, position, ordinal)
      select id, 'https://example.test', 1, 'latest', 'whsec_', now(), 0, 0 from access.account where email = ${email}
      returning id)
    insert into access.webhook_delivery (webhook_id, event_id, type, at, attempt, duration_ms)
    select id, '1-1', 'sale', now(), 1, 1 from hook`.execute(database.db);
  return Object.assign(browser, { key, clientKey, token: issued.token });
}

/** The tables of the schema that are about accounts, by their columns. */
async function ownTables(): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ name: string; columns: string[] }>`
    select table_name as name, array_agg(column_name::text order by ordinal_position) as columns
    from information_schema.columns where table_schema = 'access'
    group by table_name
    having table_name in ('account', 'link') or 'account_id' = any(array_agg(column_name::text))
        or 'key_id' = any(array_agg(column_name::text)) or 'webhook_id' = any(array_agg(column_name::text))`.execute(
    database.db,
  );
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

const Exported = z.record(z.string(), z.unknown());
const Rows = z.array(z.record(z.string(), z.unknown())).min(1);

/** Columns that are secrets, or say whose row it is. */
const leftOut = new Set(["hash", "password", "secret", "former_secret", "account_id"]);

describe("the export of an account", () => {
  it("is a file with every column of every table that is about it, except secrets", async () => {
    const owner = await fullAccount();
    await signUp(desk);
    const page = await owner.post("/developers/account/export");
    const data = Exported.parse(JSON.parse(page.text));

    expect(page.headers.get("content-disposition")).toBe('attachment; filename="account.json"');
    expect(page.headers.get("content-type")).toMatch("application/json");
    for (const [table, columns] of await ownTables()) {
      if (table === "recovery_code") continue;
      const expected = columns.filter(
        (column) => !leftOut.has(column) && !(table === "link" && column === "email"),
      );
      const [row = {}] = Rows.parse(data[table]);
      expect(Object.keys(row).sort(), table).toEqual(expected.sort());
      // Of nobody else.
      if (table === "account") expect(data[table]).toHaveLength(1);
    }
    expect(data).toMatchObject({ recovery_codes_left: 1, account: [{ email: owner.email }] });
    for (const secret of [owner.key, owner.clientKey, owner.token]) {
      expect(page.text).not.toContain(secret);
    }
    expect(page.text).not.toContain("$argon2id");
  });

  it("is made a few times an hour", async () => {
    const owner = await fullAccount();
    const statuses: number[] = [];
    for (let made = 0; made < 6; made += 1)
      statuses.push((await owner.post("/developers/account/export")).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });
});

describe("the deletion of an account", () => {
  it("leaves no row of it; its keys, tokens and sessions end at once", async () => {
    const owner = await fullAccount();
    const { rows: ids } = await sql<{ id: number; keyId: number; webhookId: number }>`
      select a.id, k.id as "keyId", w.id as "webhookId" from access.account a
      join access.key k on k.account_id = a.id join access.webhook w on w.account_id = a.id
      where email = ${owner.email}`.execute(database.db);
    const { id = 0, keyId = 0, webhookId = 0 } = ids[0] ?? {};
    const refused = await owner.post("/developers/account/delete", { name: "a@b.test" });
    const deleted = await owner.post("/developers/account/delete", { name: owner.email });

    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/id="name-error" role="alert"/);
    expect([deleted.status, owner.cookie]).toEqual([200, null]);
    expect(await statusWith(desk, owner.key)).toBe(401);
    expect(await desk.tokens.check(owner.token)).toBeNull();
    expect((await signIn(openBrowser(desk), owner.email)).status).toBe(401);
    expect(subjectsTo(owner.email).at(-1)).toBe("Your account was deleted");
    for (const [table, columns] of await ownTables()) {
      const own = (columns.includes("account_id") && sql`account_id = ${id}`) || undefined;
      const ofKey = (columns.includes("key_id") && sql`key_id = ${keyId}`) || undefined;
      const ofWebhook =
        (columns.includes("webhook_id") && sql`webhook_id = ${webhookId}`) || undefined;
      const owned = own ?? ofKey ?? ofWebhook ?? sql`email = ${owner.email}`;
      const { rows } = await sql`select from access.${sql.ref(table)} where ${owned}`.execute(
        database.db,
      );
      expect(rows, table).toHaveLength(0);
    }
  });
});

describe("one account per mailbox", () => {
  it("mails a link for another +tag to the address of the account, and says nothing of it", async () => {
    const name = newEmail().replace("@", "+keys@");
    const owner = await signUp(desk, name);
    const sent = await openBrowser(desk).post("/developers/sign-up", {
      email: name.replace("+keys", "+more"),
    });

    expect(sent.text).toContain(`We sent a link to <strong>${name.replace("+keys", "+more")}`);
    expect(subjectsTo(owner.email)).toContain("Choose a new password");
    expect(subjectsTo(name.replace("+keys", "+more"))).toEqual([]);
    const { rows } = await sql`
      select from access.account where canonical_email = ${name.replace("+keys", "")}`.execute(
      database.db,
    );
    expect(rows).toHaveLength(1);
  });

  it("makes one of two that were begun at once, and takes nobody's account over", async () => {
    const name = newEmail();
    const emails = [name, name.replace("@", "+tag@"), name.replace("@", "+other@").toUpperCase()];
    for (const email of emails) await openBrowser(desk).post("/developers/sign-up", { email });
    const links = emails.map((email) => linkOf(desk, email.toLowerCase()));
    const made = await Promise.all(
      links.map((link) => openBrowser(desk).post("/developers/confirm", { link, password })),
    );

    expect(made.map(({ status }) => status).sort()).toEqual([303, 410, 410]);
  });

  it("counts mails by mailbox", async () => {
    const name = newEmail();
    const statuses: number[] = [];
    for (let time = 0; time < 4; time += 1) {
      const email = name.replace("@", `+${time}@`);
      statuses.push((await openBrowser(desk).post("/developers/sign-up", { email })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

describe("a password", () => {
  it.each(["1234567890123", "Password2024!!", "qwertyqwerty", "mailbox-2026"])(
    "is not one that many have, or the owner's own address: %s",
    async (bad) => {
      const email = `dev.mailbox+${newEmail()}`;
      const browser = openBrowser(desk);
      await browser.post("/developers/sign-up", { email });
      const link = linkOf(desk, email);
      const refused = await browser.post("/developers/confirm", { link, password: bad });

      expect(refused.status).toBe(422);
      expect(refused.text).toMatch(/id="password-error" role="alert">(Many people|This is too)/);
      await sql`delete from access.attempt`.execute(database.db);
    },
  );
});

describe("mails about credentials", () => {
  it("tell of each key that was made", async () => {
    const { email, ...browser } = await signUp(desk);
    await browser.post("/developers/keys", { name: "bot" });
    await browser.post("/developers/client-key");
    expect(subjectsTo(email).slice(1)).toEqual(["A key was made", "A key was made"]);
    expect(desk.mails.at(-2)?.text).toContain("The API key “bot” was made");
  });

  it("tell of the first use in a network, by password, key, client key or token, and of no other", async () => {
    const owner = await signUp(desk);
    const { email } = owner;
    const key = secretIn(await owner.post("/developers/keys", { name: "bot" }), "live");
    const clientKey = secretIn(await owner.post("/developers/client-key"), "client");
    const before = subjectsTo(email).length;
    const use = async (address: string) => {
      await fetch(`${desk.url}/v1/orders/params?chainId=5`, {
        headers: { "x-api-key": key, "x-forwarded-for": address },
      });
      await desk.flushUsage();
    };
    const home = owner.address.replace(/\d+$/, "200");
    await use(home);
    await signIn(openBrowser(desk, home), email);
    const atHome = subjectsTo(email).length;
    await use("198.51.100.7");
    await use("198.51.100.99");
    await signIn(openBrowser(desk, "198.51.100.50"), email);
    await use("2001:db8:7:1::1");
    await use("2001:db8:7:2::1");
    await signIn(openBrowser(desk, "192.0.2.1"), email);
    await desk.tokens.issue({ email, clientKey }, "203.0.113.4");
    await desk.flushUsage();

    const mails = desk.mails.filter(({ to }) => to === email).slice(before);
    expect(atHome).toBe(before);
    expect(
      mails.map(({ text }) => /(an|the) (\w| )+ of your.*to it: (\S+)/.exec(text)?.[0]),
    ).toEqual([
      expect.stringMatching(/^an API key .*198\.51\.100\.0\/24$/),
      expect.stringMatching(/^an API key .*2001:db8:7::\/48$/),
      expect.stringMatching(/^the password .*192\.0\.2\.0\/24$/),
      expect.stringMatching(/^the client key .*203\.0\.113\.0\/24$/),
    ]);
  });

  it("are five a day at most about networks", async () => {
    const owner: Browser & { email: string } = await signUp(desk);
    for (let time = 0; time < 8; time += 1) {
      await signIn(openBrowser(desk, `198.18.${time}.1`), owner.email);
    }
    const about = subjectsTo(owner.email).filter((subject) => /new network/.test(subject));
    expect(about).toHaveLength(5);
  });
});
